"""Settings: all that is missing in one message, nothing guessed."""

from __future__ import annotations

import pytest
from cloud.settings import BadSettings, ConvertSettings, TranscribeSettings, load, variables

from tests.functions.situations import ENVIRONMENT


def test_settings_come_from_the_environment() -> None:
    found = load(TranscribeSettings, ENVIRONMENT)
    assert (found.job_table, found.formats, found.max_receives) == ("jobs", ("json", "srt", "vtt", "txt"), 3)


def test_every_missing_variable_is_named() -> None:
    environment = {name: value for name, value in ENVIRONMENT.items() if name not in ("EVENT_BUS", "WORK_PREFIX")}
    with pytest.raises(BadSettings, match=r"not set: WORK_PREFIX, EVENT_BUS, ASR_BUNDLE$"):
        load(TranscribeSettings, environment | {"ASR_BUNDLE": ""})


def test_every_malformed_variable_is_named() -> None:
    with pytest.raises(BadSettings, match=r"MAX_RECEIVES must be .*'many'; RETRY_DELAY_S must be .*'-1'"):
        load(ConvertSettings, ENVIRONMENT | {"MAX_RECEIVES": "many", "RETRY_DELAY_S": "-1"})


@pytest.mark.parametrize(
    ("name", "value"), [("FORMATS", "json,pdf"), ("FORMATS", ","), ("CHANNEL_IDENTIFICATION", "x")]
)
def test_an_unknown_choice_is_refused_with_the_choices(name: str, value: str) -> None:
    with pytest.raises(BadSettings, match=f"{name} must be"):
        load(TranscribeSettings, ENVIRONMENT | {name: value})


def test_a_function_asks_for_no_more_than_it_uses() -> None:
    assert set(variables(ConvertSettings)) < set(variables(TranscribeSettings))
    assert "MODELS_DIR" not in variables(ConvertSettings)
