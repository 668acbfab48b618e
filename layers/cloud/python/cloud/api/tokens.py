"""`POST /v1/tokens`: a token of a minute or so that opens the WebSocket, for browsers, which hold no API key."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Annotated, Literal

from aws_lambda_powertools.event_handler import APIGatewayRestResolver
from aws_lambda_powertools.event_handler.openapi.params import Body
from pydantic import Field
from typing_extensions import TypedDict

from cloud import tokens
from cloud.api.document import answers
from cloud.keys import signing_key
from cloud.observability import logger


@dataclass
class TokenRequest:
    """What the token is for."""

    purpose: Annotated[Literal["socket"], Field(description="The door that it opens.")] = "socket"
    subject: Annotated[
        str, Field(min_length=1, max_length=tokens.LONGEST_NAME, description="Whom you give it to; stands in our log.")
    ] = "anonymous"
    lifetime_s: Annotated[int, Field(ge=1, le=tokens.LONGEST_LIFETIME_S, description="Seconds; for connecting.")] = 60
    calls: Annotated[
        list[Annotated[str, Field(pattern=f"^({tokens.CALL.pattern})$")]],
        Field(
            max_length=tokens.MOST_CALLS,
            description='Ids of live calls that may be watched with it; `["*"]`: any. As a rule none: whoever has the '
            "token hears what is said in them.",
        ),
    ] = field(default_factory=list)


class Token(TypedDict):
    """A token and its end."""

    object: Literal["token"]
    token: str
    expires_at: int  # seconds since 1970


def add(api: APIGatewayRestResolver, secret_id: str) -> None:
    """The route; tokens are signed with the key in a secret."""

    @api.post(
        "/v1/tokens",
        summary="Get a token for the WebSocket",
        tags=["Service"],
        status_code=HTTPStatus.CREATED,
        responses=answers("The token", HTTPStatus.UNSUPPORTED_MEDIA_TYPE, status=HTTPStatus.CREATED),
    )
    def token(request: Annotated[TokenRequest, Body()]) -> Token:
        logger.info("a token for %r", request.subject)
        now_s = time.time()
        minted = tokens.mint(
            signing_key(secret_id),
            purpose=request.purpose,
            subject=request.subject,
            now_s=now_s,
            lifetime_s=request.lifetime_s,
            calls=tuple(request.calls),
        )
        return Token(object="token", token=minted, expires_at=int(now_s) + request.lifetime_s)
