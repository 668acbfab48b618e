"""Importing is cheap: nothing loads a model runtime, a decoder or an SDK that it does not need."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from cloud import settings

from tests.contract.house import ROOT

HEAVY = {"onnxruntime", "soundfile", "av", "soxr", "boto3", "botocore", "aws_lambda_powertools", "torch"}
PATHS = ["layers/speech/python", "layers/cloud/python"]


def loaded(statement: str, *paths: str, env: dict[str, str] | None = None) -> set[str]:
    """The top-level modules that a fresh interpreter holds after `statement`."""
    program = f"import sys, json; sys.path[:0] = {[str(ROOT / p) for p in (*PATHS, *paths)]!r}\n{statement}\n"
    program += "print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env or {})
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("module", ["events", "errors"])
def test_the_words_of_the_core_cost_nothing(module: str) -> None:
    assert loaded(f"import speech.{module}") & (HEAVY | {"numpy"}) == set()


@pytest.mark.parametrize("module", ["settings", "recordings", "queues", "jobs"])
def test_the_edge_loads_no_model_runtime_and_no_decoder(module: str) -> None:
    assert loaded(f"import cloud.{module}") & (HEAVY - {"boto3", "botocore", "aws_lambda_powertools"}) == set()


def test_text_to_transcripts_needs_no_audio() -> None:
    assert loaded("import speech.text.transcript, speech.text.subtitles") & HEAVY == set()


def test_a_handler_that_needs_no_model_loads_no_runtime() -> None:
    names = [*settings.variables(settings.ConvertSettings), *settings.POWERTOOLS]
    env = dict.fromkeys(names, "1") | {"POWERTOOLS_LOG_LEVEL": "INFO", "AWS_DEFAULT_REGION": "us-east-1"}
    assert loaded("import app", "functions/convert", env=env) & {"onnxruntime", "torch"} == set()


def test_the_authoriser_of_keys_starts_with_an_sdk_and_nothing_else() -> None:
    assert loaded("import app", "functions/api_keys") & (HEAVY | {"numpy", "pydantic", "speech"}) <= {
        "boto3",
        "botocore",
    }
