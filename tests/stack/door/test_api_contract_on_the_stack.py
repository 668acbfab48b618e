"""Requests made up from the OpenAPI document, right and wrong: the API keeps to the document and never answers 5xx."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import ignored_auth, positive_data_acceptance, unsupported_method

from tests.stack.door.door import Door

EXAMPLES = 8  # requests an operation and mode
OPERATIONS = 17
MADE_UP = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
# Each sends requests of its own; tests/functions/test_api.py and test_api_on_the_stack.py ask the same once.
ASKED_ELSEWHERE = [ignored_auth, unsupported_method]
# What fits the document and is refused all the same: a file that is no recording, a model or a mark that is none.
REFUSED = ("/v1/audio/transcriptions", "/v1/audio/speech", "/v1/speech-jobs", "/v1/jobs", "/v1/calls")


def try_out(operation: schemathesis.APIOperation, mode: schemathesis.GenerationMode, base: str, key: str) -> int:
    """Sends some requests of one operation, and holds the answers to the document; how many it were."""
    unchecked = [*ASKED_ELSEWHERE, *([positive_data_acceptance] if operation.path in REFUSED else [])]
    sent = 0

    @MADE_UP
    @given(operation.as_strategy(generation_mode=mode))
    def keep_to_it(case: schemathesis.Case) -> None:
        nonlocal sent
        sent += 1
        headers = {"Authorization": f"Bearer {key}"}
        case.call_and_validate(base, headers=headers, excluded_checks=unchecked, timeout=60)

    keep_to_it()
    return sent


@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode), ids=lambda mode: mode.value)
def test_the_api_keeps_to_its_document(door: Door, mode: schemathesis.GenerationMode) -> None:
    base, key = door.name("ApiUrl"), door.stack.api_key
    document = schemathesis.openapi.from_url(f"{base}/openapi.json", timeout=60)
    operations = [found.ok() for found in document.get_all_operations()]
    assert len(operations) == OPERATIONS
    if mode is schemathesis.GenerationMode.NEGATIVE:
        operations = [one for one in operations if one.path != "/health"]  # of which nothing can be wrong
    sent = [try_out(operation, mode, base, key) for operation in operations]
    assert sum(sent) > 3 * OPERATIONS
