"""The service's operations as botocore describes them: paths, and what a request must hold."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import botocore.session
from botocore.validate import ParamValidator

from local.kvs.refusals import Refused

SERVICES = ("kinesisvideo", "kinesis-video-media", "kinesis-video-archived-media")


@cache
def by_path() -> dict[str, Any]:
    """botocore's operation models by request path; PutMedia is in none of its services."""
    session = botocore.session.get_session()
    models = [session.get_service_model(name) for name in SERVICES]
    found = {}
    for model in models:
        for name in model.operation_names:
            operation = model.operation_model(name)
            found[operation.http["requestUri"]] = operation
    return found


def parse(path: str, body: bytes) -> tuple[str, dict[str, Any]]:
    """(operation, its input) of a request; `Refused` when there is no such operation or its input cannot be right."""
    operation = by_path().get(path)
    if operation is None:
        raise Refused("UnknownOperationException", f"there is no operation at {path}")
    try:
        asked = json.loads(body or b"{}")
    except ValueError:
        raise Refused("InvalidArgumentException", f"the body of {operation.name} is no JSON") from None
    if not isinstance(asked, dict):
        raise Refused("InvalidArgumentException", f"the body of {operation.name} is no JSON object")
    report = ParamValidator().validate(asked, operation.input_shape)
    if report.has_errors():
        raise Refused("InvalidArgumentException", f"{operation.name}: {report.generate_report()}")
    return operation.name, asked
