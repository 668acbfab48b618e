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
CONTAINERS = {"WorkerTask": "functions/live_worker"}  # a task names an image, not a folder


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


def test_a_worker_is_given_what_it_reads_and_nothing_else() -> None:
    [task] = template.resources(TEMPLATE, "AWS::ECS::TaskDefinition").values()
    [container] = task["ContainerDefinitions"]
    kind = getattr(settings, loaded_settings(ROOT / CONTAINERS["WorkerTask"] / "app.py"))
    given = [variable["Name"] for variable in container["Environment"]]
    assert sorted(given) == sorted({*settings.variables(kind), *settings.POWERTOOLS, "AWS_DEFAULT_REGION"})


def test_every_function_and_layer_of_the_template_has_its_folder() -> None:
    wanted = [f["CodeUri"] for f in FUNCTIONS.values()] + [layer["ContentUri"] for layer in LAYERS.values()]
    assert [folder for folder in wanted if not (ROOT / folder).is_dir()] == []


def test_every_function_folder_is_in_the_template() -> None:
    folders = {path.parent.name for path in (ROOT / "functions").glob("*/app.py")}
    named = {Path(function["CodeUri"]).name for function in FUNCTIONS.values()}
    assert folders == named | {Path(folder).name for folder in CONTAINERS.values()}
    assert set(CONTAINERS) == set(template.resources(TEMPLATE, "AWS::ECS::TaskDefinition"))


def test_a_container_is_made_where_its_code_lies() -> None:
    for folder in CONTAINERS.values():
        made = (ROOT / folder / "Dockerfile").read_text()
        sources = [part for line in made.splitlines() if line.startswith("COPY layers") for part in line.split()[1:-1]]
        assert [source for source in (*sources, f"{folder}/app.py") if not (ROOT / source).exists()] == []
        assert f"COPY {folder}/app.py" in made
        assert "\nUSER worker\n" in made


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
