"""functions -> cloud -> speech -> numpy; models -> speech; local -> everything shipped; nothing the other way round."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from tests.contract.house import ROOT, Import, imports, named

SPEECH = "layers/speech"
OURS = {"speech", "cloud", "functions", "models", "local", "tests"}
# The core is pure: it has no clock, no threads, no network, no environment and no log.
# fmt: off
IMPURE = {
    "os", "time", "threading", "asyncio", "logging", "socket", "subprocess", "multiprocessing", "concurrent", "queue",
    "sched", "select", "selectors", "signal", "http", "urllib", "ssl", "shutil", "tempfile",
}
# fmt: on
ONLY_IN = {
    "soundfile": lambda path: path.startswith(f"{SPEECH}/python/speech/audio/files"),
    "av": lambda path: path.startswith(f"{SPEECH}/python/speech/audio/files"),
    "soxr": lambda path: path == f"{SPEECH}/python/speech/audio/resample.py",
    "onnxruntime": lambda path: path == f"{SPEECH}/python/speech/model/onnx.py",
}


def broken(folder: str, allowed: Callable[[Import], bool]) -> list[str]:
    """The imports below `folder` that are not allowed; standard library is, unless `allowed` says otherwise."""
    return [str(found) for found in imports(folder) if not allowed(found)]


def standard(found: Import) -> bool:
    return found.top in sys.stdlib_module_names


def test_the_core_imports_numpy_and_itself_and_nothing_impure() -> None:
    def allowed(found: Import) -> bool:
        if found.top in ONLY_IN:
            return True  # its own test below
        # The command line is the package's own edge.
        is_command = named(found.path).startswith(
            tuple(f"{SPEECH}/python/speech/{part}" for part in ("__main__", "cli/"))
        )
        return found.top in {"numpy", "speech"} or (standard(found) and (is_command or found.top not in IMPURE))

    assert broken(SPEECH, allowed) == []


@pytest.mark.parametrize("module", sorted(ONLY_IN))
def test_each_decoder_and_runtime_has_one_door(module: str) -> None:
    def allowed(found: Import) -> bool:
        return found.top != module or ONLY_IN[module](named(found.path))

    assert broken(SPEECH, allowed) + broken("layers/cloud", allowed) + broken("functions", allowed) == []


@pytest.mark.parametrize(("one", "other"), [("asr", "tts"), ("tts", "asr")])
def test_recognition_and_synthesis_never_import_each_other(one: str, other: str) -> None:
    assert broken(f"{SPEECH}/python/speech/{one}", lambda found: not found.module.startswith(f"speech.{other}")) == []


def test_the_cloud_edge_imports_aws_and_the_core() -> None:
    aws = {"boto3", "botocore", "aws_lambda_powertools", "aws_xray_sdk"}
    http = {"h11", "urllib3"}  # for PutMedia, which boto3 has not, and for what is no AWS
    shapes = {"pydantic", "typing_extensions"}  # of requests and answers; the API's alone: they cost a start its speed

    def allowed(found: Import) -> bool:
        if found.top in shapes:
            return named(found.path).startswith("layers/cloud/python/cloud/api/")
        return standard(found) or found.top in aws | http | {"cloud", "speech", "numpy"}

    assert broken("layers/cloud", allowed) == []


def test_a_function_imports_the_edge_and_the_core_but_no_sdk_and_no_other_function() -> None:
    def allowed(found: Import) -> bool:
        siblings = {path.stem for path in found.path.parent.glob("*.py")}
        return standard(found) or found.top in {"cloud", "speech", "aws_lambda_powertools"} | siblings

    assert broken("functions", allowed) == []


def test_models_import_the_core_and_no_other_room() -> None:
    assert broken("models", lambda found: found.top not in OURS - {"models", "speech"}) == []


def test_nothing_shipped_imports_models_local_or_tests() -> None:
    for folder in ("layers", "functions"):
        assert broken(folder, lambda found: found.top not in {"models", "local", "tests"}) == []


def test_torch_stays_with_the_models() -> None:
    for folder in ("layers", "functions", "local"):
        assert broken(folder, lambda found: found.top not in {"torch", "torchaudio"}) == []
        named_in = [named(path) for path in (ROOT / folder).rglob("requirements*.txt") if "torch" in path.read_text()]
        assert named_in == []
