"""Read template.yaml as CloudFormation would, with the short intrinsic functions written out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from local.state import ROOT

TEMPLATE = ROOT / "template.yaml"
Template = dict[str, Any]


class _Loader(yaml.SafeLoader):
    """A safe YAML loader that knows `!Ref` and its relatives, and leaves dates as text."""


def _intrinsic(loader: yaml.SafeLoader, suffix: str, node: yaml.Node) -> dict[str, Any]:
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
