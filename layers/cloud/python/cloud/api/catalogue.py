"""`GET /v1/models` and `GET /health`: what answers here."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Literal

from aws_lambda_powertools.event_handler import APIGatewayRestResolver
from aws_lambda_powertools.event_handler.openapi.params import Path
from typing_extensions import TypedDict

from cloud.api.document import answers
from cloud.api.errors import ApiError

# Clients written for OpenAI name one of these; each stands for the model that is here.
ALIASES = ("whisper-1", "gpt-4o-transcribe", "gpt-4o-mini-transcribe")


class Model(TypedDict):
    """A model as OpenAI's clients know it."""

    id: str
    object: Literal["model"]
    created: int  # 0: a bundle does not say when it was made
    owned_by: str


class ModelList(TypedDict):
    """All of them."""

    object: Literal["list"]
    data: list[Model]


class Health(TypedDict):
    """That it answers, and with what."""

    status: Literal["ok"]
    model: str


def described(bundle: str) -> Model:
    """The model of a bundle."""
    return Model(id=bundle, object="model", created=0, owned_by="undertone")


def check(name: str, bundle: str) -> None:
    """Raises 404 for a model that is not here, naming the one that is."""
    if name not in (bundle, *ALIASES):
        message = f"the model {name!r} does not exist; {bundle!r} does"
        raise ApiError(HTTPStatus.NOT_FOUND, message, code="model_not_found", param="model")


def add(api: APIGatewayRestResolver, bundle: str) -> None:
    """Routes that tell of the recognition bundle of this name."""

    @api.get("/health", summary="Whether it answers", tags=["Service"], security=[{}])
    def health() -> Health:
        return Health(status="ok", model=bundle)

    @api.get("/v1/models", summary="The models", tags=["Service"], responses=answers("All of them"))
    def models() -> ModelList:
        return ModelList(object="list", data=[described(bundle)])

    @api.get(
        "/v1/models/<name>", summary="One model", tags=["Service"], responses=answers("The model", HTTPStatus.NOT_FOUND)
    )
    def model(
        name: Annotated[str, Path(description="Of the model, or a name of OpenAI's that stands for it.")],
    ) -> Model:
        check(name, bundle)
        return described(bundle)
