"""The OpenAPI document: Powertools' own, with our errors in place of the ones that it takes for granted."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver
from aws_lambda_powertools.event_handler.openapi.models import OpenAPI, Schema
from aws_lambda_powertools.event_handler.openapi.types import OpenAPIResponse

REFERENCE = {"$ref": "#/components/schemas/Error"}
BUG = HTTPStatus.INTERNAL_SERVER_ERROR
ALWAYS = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED, HTTPStatus.TOO_MANY_REQUESTS, BUG)
NOT_OURS = ("HTTPValidationError", "ResponseValidationError", "ValidationError")
TEXT: dict[str, Any] = {"type": "string"}
TEXT_OR_NULL: dict[str, Any] = {"anyOf": [TEXT, {"type": "null"}]}
ERROR: dict[str, Any] = {
    "type": "object",
    "description": "What every refusal and failure looks like",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "type", "param", "code"],
            "properties": {"message": TEXT, "type": TEXT, "param": TEXT_OR_NULL, "code": TEXT_OR_NULL},
        }
    },
}


def errors(*statuses: HTTPStatus) -> dict[int, OpenAPIResponse]:
    """Entries of an operation's `responses`: these errors, and those that every operation may give."""
    return {
        int(status): {"description": status.phrase, "content": {"application/json": {"schema": REFERENCE}}}
        for status in sorted({*ALWAYS, *statuses})
    }


def answers(what: str, *refusals: HTTPStatus, status: HTTPStatus = HTTPStatus.OK) -> dict[int, OpenAPIResponse]:
    """All entries of `responses`: `what` is described by the type that the route's function returns."""
    return {int(status): {"description": what}, **errors(*refusals)}


class Resolver(APIGatewayRestResolver):
    """A resolver whose document has the errors that it gives."""

    def get_openapi_schema(self, **about: Any) -> OpenAPI:
        """The document; `about` as Powertools has it."""
        document = super().get_openapi_schema(**about)
        ours = errors()[BUG]
        for path in (document.paths or {}).values():
            for operation in filter(None, (path.get, path.post)):
                responses = operation.responses or {}
                responses.pop(HTTPStatus.UNPROCESSABLE_ENTITY, None)
                responses[BUG] = ours
        assert document.components
        schemas = {name: one for name, one in (document.components.schemas or {}).items() if name not in NOT_OURS}
        document.components.schemas = schemas | {"Error": Schema.model_validate(ERROR)}
        return document
