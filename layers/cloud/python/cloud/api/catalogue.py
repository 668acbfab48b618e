"""`GET /v1/models` and `GET /health`: what answers here."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Annotated, Literal

from aws_lambda_powertools.event_handler import APIGatewayRestResolver
from aws_lambda_powertools.event_handler.openapi.params import Path
from typing_extensions import TypedDict

from cloud.api.document import answers
from cloud.api.errors import ApiError

# Clients written for OpenAI name one of these; each stands for the model that is here.
ALIASES = ("whisper-1", "gpt-4o-transcribe", "gpt-4o-mini-transcribe")
VOICE_ALIASES = ("tts-1", "tts-1-hd", "gpt-4o-mini-tts")


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
    """That it answers, and what hears."""

    status: Literal["ok"]
    model: str


def described(bundle: str) -> Model:
    """The model of a bundle."""
    return Model(id=bundle, object="model", created=0, owned_by="undertone")


def check(name: str, bundle: str, aliases: Sequence[str] = ALIASES) -> None:
    """Raises 404 for a model that does not do what was asked for, naming the one that does."""
    if name not in (bundle, *aliases):
        raise _unknown(name, repr(bundle) + " does")


def add(api: APIGatewayRestResolver, recognition: str, synthesis: str) -> None:
    """Routes that tell of the bundles of these names."""

    @api.get("/health", summary="Whether it answers", tags=["Service"], security=[{}])
    def health() -> Health:
        return Health(status="ok", model=recognition)

    @api.get("/v1/models", summary="The models", tags=["Service"], responses=answers("All of them"))
    def models() -> ModelList:
        return ModelList(object="list", data=[described(recognition), described(synthesis)])

    @api.get(
        "/v1/models/<name>", summary="One model", tags=["Service"], responses=answers("The model", HTTPStatus.NOT_FOUND)
    )
    def model(
        name: Annotated[str, Path(description="Of the model, or a name of OpenAI's that stands for it.")],
    ) -> Model:
        for bundle, aliases in ((recognition, ALIASES), (synthesis, VOICE_ALIASES)):
            if name in (bundle, *aliases):
                return described(bundle)
        raise _unknown(name, f"{recognition!r} and {synthesis!r} do")


def _unknown(name: str, known: str) -> ApiError:
    message = f"the model {name[:80]!r} does not exist here; {known}"
    return ApiError(HTTPStatus.NOT_FOUND, message, code="model_not_found", param="model")
