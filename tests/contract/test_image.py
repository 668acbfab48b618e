"""The worker's image, as far as it can be held without building one: what it copies, installs, runs as and is asked."""

from __future__ import annotations

import json
import re
from importlib import metadata
from typing import Any

import pytest
from packaging.requirements import Requirement

from local import template
from tests.contract.house import ROOT
from tests.contract.test_requirements import pins

FOLDER = ROOT / "functions" / "live_worker"
LINES = [
    line
    for line in re.sub(r"\\\n\s*", "", (FOLDER / "Dockerfile").read_text()).splitlines()
    if line and not line.startswith("#")
]
IGNORED = [line for line in (FOLDER / "Dockerfile.dockerignore").read_text().splitlines() if line[:1] not in ("", "#")]
[TASK] = template.resources(template.read(), "AWS::ECS::TaskDefinition").values()
[CONTAINER] = TASK["ContainerDefinitions"]


def instructions(name: str) -> list[str]:
    """What stands behind an instruction, each time; options such as --from are left out with their lines."""
    return [line.removeprefix(f"{name} ").strip() for line in LINES if line.startswith(f"{name} ")]


def copied() -> list[tuple[str, str]]:
    """(source in the repository, place in the image)."""
    found = [line.split() for line in instructions("COPY") if not line.startswith("--from")]
    return [(source, to) for *sources, to in found for source in sources]


def let_through(source: str) -> bool:
    """Whether the build sees a source: the whole tree is left out but for what is named."""
    named = [pattern[1:] for pattern in IGNORED if pattern.startswith("!")]
    return any(source == name or source.startswith(f"{name}/") for name in named)


def test_the_build_sees_what_is_copied_and_nothing_else() -> None:
    sources = [source for source, _ in copied()]
    assert IGNORED[0] == "*"
    assert [source for source in sources if not (ROOT / source).exists()] == []
    assert [source for source in sources if not let_through(source)] == []
    assert {pattern[1:] for pattern in IGNORED if pattern.startswith("!")} == set(sources)


def test_every_package_that_is_needed_is_installed() -> None:
    """The image installs without looking for more, so that nothing may be missing from the lists."""
    [install] = [line for line in instructions("RUN") if "pip install" in line]
    assert "--no-deps" in install
    lists = {to: ROOT / source for source, to in copied() if source.endswith("requirements.txt")}
    asked = re.findall(r"--requirement (\S+)", install)
    assert sorted(asked) == sorted(lists)
    installed = {name: version for to in asked for name, version in pins(lists[to]).items()}
    assert missing(installed) == []


def missing(installed: dict[str, str]) -> list[str]:
    """Requirements of these packages, as their own metadata tells them here, that are not among them."""
    python = {"extra": "", "python_version": "3.13", "python_full_version": "3.13.0"}
    found = []
    for name in installed:
        for text in metadata.requires(name) or []:
            needs = Requirement(text)
            version = installed.get(re.sub(r"[-_.]+", "-", needs.name).lower())
            wanted = needs.marker is None or needs.marker.evaluate(python)
            if wanted and (version is None or version not in needs.specifier):
                found.append(f"{name} needs {text}, the image has {version}")
    return found


def test_what_calls_may_need_is_there() -> None:
    """FFmpeg for AAC, h11 for PutMedia, soundfile for recordings: imported late, a start would not miss them."""
    installed = {name for path in ("layers/runtime", "functions/live_worker") for name in pins_of(path)}
    assert installed >= {"av", "h11", "soundfile", "urllib3", "boto3", "onnxruntime", "numpy", "aws-lambda-powertools"}


def pins_of(folder: str) -> dict[str, str]:
    return pins(ROOT / folder / "requirements.txt")


def test_stages_are_of_one_python_that_lambda_has_too() -> None:
    images = [line.split(" AS ")[0] for line in instructions("FROM")]
    assert set(images) == {"python:3.13-slim"}
    [runtime] = {template.read()["Globals"]["Function"]["Runtime"]}
    assert runtime == "python3.13"


def test_it_runs_as_somebody_who_may_write_to_one_folder_alone() -> None:
    assert instructions("USER") == [CONTAINER["User"]] == ["worker"]
    [made] = [line for line in instructions("RUN") if "useradd" in line]
    folder = CONTAINER["MountPoints"][0]["ContainerPath"]
    assert "--uid 10001" in made
    assert f"--owner worker {folder}" in made
    assert instructions("VOLUME") == [json.dumps([folder])]
    order = [line.split()[0] for line in LINES]
    assert order.index("USER") > max(at for at, name in enumerate(order) if name in ("COPY", "RUN"))
    assert CONTAINER["ReadonlyRootFilesystem"] is True


def exec_form(text: str) -> list[str]:
    found = json.loads(text)
    assert isinstance(found, list)
    return [str(part) for part in found]


def test_signals_reach_the_worker_itself() -> None:
    """A shell in between would take SIGTERM for itself, and no call would be handed over."""
    assert exec_form(instructions("CMD")[0]) == ["python", "app.py"]
    [folder] = instructions("WORKDIR")
    assert (f"{FOLDER.relative_to(ROOT)}/app.py", f"{folder}/") in copied()
    assert instructions("ENTRYPOINT") == []
    assert "SIGTERM" in (FOLDER / "app.py").read_text()


def test_the_image_and_the_task_ask_for_health_alike() -> None:
    [check] = [line for line in LINES if line.startswith("HEALTHCHECK")]
    options = dict(re.findall(r"--([a-z-]+)=(\d+)", check))
    asked: dict[str, Any] = CONTAINER["HealthCheck"]
    assert exec_form(check[check.index("[") :]) == asked["Command"][1:]
    names = {"interval": "Interval", "timeout": "Timeout", "start-period": "StartPeriod", "retries": "Retries"}
    assert {names[name]: int(value) for name, value in options.items()} == {
        key: value for key, value in asked.items() if key != "Command"
    }


@pytest.mark.parametrize(
    ("variable", "place"), [("PYTHONPATH", "/opt/python"), ("OMP_NUM_THREADS", "1"), ("ORT_DISABLE_TELEMETRY", "1")]
)
def test_code_is_found_where_it_was_put(variable: str, place: str) -> None:
    [given] = instructions("ENV")
    assert dict(part.split("=") for part in given.split())[variable] == place
    wheels = [line for line in instructions("COPY") if line.startswith("--from=wheels")]
    assert wheels == ["--from=wheels /opt/python /opt/python"]
    assert {to for source, to in copied() if source.startswith("layers/") and source.endswith("python")} == {
        "/opt/python/"
    }
    models = next(v["Value"] for v in CONTAINER["Environment"] if v["Name"] == "MODELS_DIR")
    assert ("models/bundles", models) in copied()
