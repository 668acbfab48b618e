"""Read template.yaml as CloudFormation would, with the short intrinsic functions written out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from local.state import ROOT

TEMPLATE = ROOT / "template.yaml"
Template = dict[str, Any]


class _Loader(yaml.CSafeLoader):
    """A safe YAML loader, the quick one, that knows `!Ref` and its relatives, and leaves dates as text."""


def _intrinsic(loader: yaml.CSafeLoader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    """`!Sub x` -> `{"Fn::Sub": "x"}`; `!GetAtt a.b` -> `{"Fn::GetAtt": ["a", "b"]}`."""
    value: Any
    if isinstance(node, yaml.ScalarNode):
        value = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        assert isinstance(node, yaml.MappingNode)
        value = loader.construct_mapping(node, deep=True)
    if suffix == "GetAtt" and isinstance(value, str):
        value = value.split(".", 1)
    return {suffix if suffix in ("Ref", "Condition") else f"Fn::{suffix}": value}


_Loader.add_multi_constructor("!", _intrinsic)
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read(path: Path = TEMPLATE) -> Template:
    """The template as plain dictionaries and lists."""
    loaded = yaml.load(path.read_text(), Loader=_Loader)
    assert isinstance(loaded, dict), f"{path} holds no mapping"
    return loaded


def resources(template: Template, kind: str) -> dict[str, Template]:
    """Logical id -> Properties of every resource of type `kind`."""
    return {
        name: resource["Properties"] for name, resource in template["Resources"].items() if resource["Type"] == kind
    }


def with_numbers(template: Template, values: dict[str, str]) -> Template:
    """The template with each `!Ref` of a Number parameter replaced by its value: one of `values`, else its default.

    CloudFormation makes such a reference a number where a number belongs, and text in a function's variables; the
    emulator makes it text everywhere, and falls over it.
    """
    numbers = {
        name: int(values.get(name, parameter.get("Default", 0)))
        for name, parameter in template.get("Parameters", {}).items()
        if parameter["Type"] == "Number"
    }

    def written(part: Any) -> Any:
        if isinstance(part, dict):
            if len(part) == 1 and part.get("Ref") in numbers:
                return numbers[part["Ref"]]
            return {key: value if key == "Variables" else written(value) for key, value in part.items()}
        return [written(value) for value in part] if isinstance(part, list) else part

    return {name: section if name == "Parameters" else written(section) for name, section in template.items()}


# What would need Docker, or a network to put it in: locally a worker of live calls is a process of its own.
NOT_HERE = ("AWS::ECS::", "AWS::EC2::", "AWS::ApplicationAutoScaling::")


def without_containers(template: Template) -> Template:
    """The template less the resources that an emulator without Docker cannot run."""
    kept = {name: part for name, part in template["Resources"].items() if not part["Type"].startswith(NOT_HERE)}
    return {**template, "Resources": kept}


def left_out(template: Template) -> list[str]:
    """Names of the resources that `without_containers` leaves out."""
    return sorted(set(template["Resources"]) - set(without_containers(template)["Resources"]))
