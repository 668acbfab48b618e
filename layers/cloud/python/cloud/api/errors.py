"""Errors as OpenAI's clients expect them: `{"error": {"message", "type", "param", "code"}}`, whatever went wrong."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from traceback import walk_tb
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response, content_types
from aws_lambda_powertools.event_handler.exceptions import NotFoundError, ServiceError
from aws_lambda_powertools.event_handler.openapi.exceptions import (
    RequestUnsupportedContentType,
    RequestValidationError,
)
from speech.errors import BadInput

from cloud.observability import logger

INVALID, SERVER = "invalid_request_error", "server_error"
BODY_READER = "_get_body"  # in Powertools' validation: all that runs below it reads the request's body


class ApiError(Exception):
    """A request that cannot be answered as asked; `code` is its name for programs, `param` the field to blame."""

    def __init__(self, status: HTTPStatus, message: str, *, code: str, param: str | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.code, self.param = status, message, code, param


def response(
    status: int,
    message: str,
    kind: str = INVALID,
    code: str | None = None,
    param: str | None = None,
    headers: Mapping[str, str | list[str]] | None = None,
) -> Response[dict[str, Any]]:
    """An error as a response."""
    body = {"error": {"message": message, "type": kind, "param": param, "code": code}}
    return Response(status, content_types.APPLICATION_JSON, body, headers=dict(headers or {}))


def install(api: APIGatewayRestResolver) -> None:
    """Handlers of everything that a route can raise."""
    api.exception_handler_manager.update_exception_handlers(
        {
            ApiError: _refused,
            BadInput: _bad_input,
            RequestValidationError: _invalid,
            RequestUnsupportedContentType: _invalid,
            NotFoundError: lambda _: _unknown(api),
            ServiceError: _service,
            Exception: _bug,
        }
    )


def _refused(error: ApiError) -> Response[dict[str, Any]]:
    return response(error.status, error.message, INVALID, error.code, error.param)


def _bad_input(error: BadInput) -> Response[dict[str, Any]]:
    return response(HTTPStatus.BAD_REQUEST, str(error), code=getattr(error, "code", "invalid_input"))


def _invalid(error: RequestValidationError | RequestUnsupportedContentType) -> Response[dict[str, Any]]:
    found = [(_param(problem), problem) for problem in error.errors()]
    text = "; ".join(f"{param}: {problem['msg']}" if param else str(problem["msg"]) for param, problem in found)
    unsupported = isinstance(error, RequestUnsupportedContentType)
    status = HTTPStatus.UNSUPPORTED_MEDIA_TYPE if unsupported else HTTPStatus.BAD_REQUEST
    return response(status, text, code=str(found[0][1]["type"]), param=found[0][0])


def _unknown(api: APIGatewayRestResolver) -> Response[dict[str, Any]]:
    method, path = api.current_event.http_method, api.current_event.path
    routes = [*api._static_routes, *api._dynamic_routes]
    allowed = sorted({route.method for route in routes if route.rule.match(path)})
    if not allowed:
        return response(HTTPStatus.NOT_FOUND, f"no such path: {method} {path}; see /docs", code="unknown_url")
    message = f"{path} does not take {method}, only {' and '.join(allowed)}"
    headers = {"Allow": ", ".join(allowed)}
    return response(HTTPStatus.METHOD_NOT_ALLOWED, message, code="method_not_allowed", headers=headers)


def _service(error: ServiceError) -> Response[dict[str, Any]]:
    return response(error.status_code, str(error.msg), code=HTTPStatus(error.status_code).name.lower())


def _bug(error: Exception) -> Response[dict[str, Any]]:
    """A bug, of which nothing is said outside the log; but where Powertools' parsers stumble, the body is to blame."""
    if any(frame.f_code.co_name == BODY_READER for frame, _ in walk_tb(error.__traceback__)):
        return response(HTTPStatus.BAD_REQUEST, f"the body cannot be read: {error}", code="invalid_body")
    logger.exception("request failed", exc_info=error)
    message = "the server failed to answer this request; its log says why"
    return response(HTTPStatus.INTERNAL_SERVER_ERROR, message, SERVER, "internal_error")


def _param(problem: Mapping[str, Any]) -> str | None:
    """The field of a validation problem: the last name in its location ("body", "file")."""
    names = [part for part in problem["loc"][1:] if isinstance(part, str)]
    return names[0] if names else None
