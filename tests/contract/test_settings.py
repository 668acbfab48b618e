"""The template sets exactly the environment variables that each function reads."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from cloud import settings

from local import template
from tests.contract.house import ROOT, tree

TEMPLATE = template.read()
FUNCTIONS = template.resources(TEMPLATE, "AWS::Serverless::Function")
LAYERS = template.resources(TEMPLATE, "AWS::Serverless::LayerVersion")


def loaded_settings(app: Path) -> str:
    """The name of the settings that a handler loads: `X` in `load(X)`."""
    calls = [node for node in ast.walk(tree(app)) if isinstance(node, ast.Call)]
    named = [c.args[0] for c in calls if isinstance(c.func, ast.Name) and c.func.id == "load"]
    assert len(named) == 1, f"{app} should load its settings once"
    assert isinstance(named[0], ast.Name)
    return named[0].id


def variables(function: template.Template) -> set[str]:
    """What the template sets for a function."""
    own = function.get("Environment", {}).get("Variables", {})
    everywhere = TEMPLATE["Globals"]["Function"].get("Environment", {}).get("Variables", {})
    return {*own, *everywhere}


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_function_is_given_what_it_reads_and_nothing_else(name: str) -> None:
    function = FUNCTIONS[name]
    kind = getattr(settings, loaded_settings(ROOT / function["CodeUri"] / "app.py"))
    assert variables(function) == {*settings.variables(kind), *settings.POWERTOOLS}


def test_every_function_and_layer_of_the_template_has_its_folder() -> None:
    wanted = [f["CodeUri"] for f in FUNCTIONS.values()] + [layer["ContentUri"] for layer in LAYERS.values()]
    assert [folder for folder in wanted if not (ROOT / folder).is_dir()] == []


def test_every_function_folder_is_in_the_template() -> None:
    folders = {path.parent.name for path in (ROOT / "functions").glob("*/app.py")}
    assert folders == {Path(function["CodeUri"]).name for function in FUNCTIONS.values()}


def test_every_parameter_says_what_it_is_for() -> None:
    parameters = TEMPLATE["Parameters"]
    assert [name for name, parameter in parameters.items() if not parameter.get("Description")] == []


def test_the_template_and_the_command_line_use_the_same_bundles() -> None:
    from speech.cli import bundles

    assert TEMPLATE["Parameters"]["AsrBundle"]["Default"] == bundles.DEFAULT
    assert TEMPLATE["Parameters"]["TtsBundle"]["Default"] == bundles.SYNTHESIS


def test_the_local_stack_differs_by_known_parameters_only() -> None:
    from local.deploy import PARAMETERS

    assert set(PARAMETERS) <= set(TEMPLATE["Parameters"])
