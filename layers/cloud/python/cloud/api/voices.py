"""The voices of a synthesis bundle: known from its manifest, its weights loaded when one first speaks.

A request for a transcription never waits for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from speech.errors import BadBundle
from speech.model.bundle import Bundle
from speech.tts.settings import SynthesisSettings
from typing_extensions import TypedDict

from cloud import engines
from cloud.api.errors import ApiError

if TYPE_CHECKING:
    from speech.tts.stream import SpeechStream

# Clients written for OpenAI name one of these; each stands for the first voice of the bundle.
ALIASES = (
    "alloy", "ash", "ballad", "cedar", "coral", "echo", "fable", "marin", "nova", "onyx", "sage", "shimmer", "verse",
)  # fmt: skip


class Voice(TypedDict):
    """Who can speak."""

    id: str
    object: Literal["voice"]
    model: str
    language: str  # as "en-US"
    rate: int  # Hz of the samples


@dataclass(frozen=True, slots=True)
class Voices:
    """Those of one bundle."""

    models_dir: str
    bundle: str
    names: tuple[str, ...]  # the first speaks for OpenAI's names
    language: str
    rate: int  # Hz

    @classmethod
    def of(cls, models_dir: str, bundle: str) -> Voices:
        """Reads the manifest and nothing else. Raises BadBundle if files are missing or it is no synthesis bundle."""
        manifest = Bundle.load(Path(models_dir) / bundle, "synthesis", verify=False).manifest
        names = tuple(SynthesisSettings.of(manifest).voices)
        return cls(models_dir, bundle, names, manifest.language, manifest.sample_rate)

    def listed(self) -> list[Voice]:
        """All of them."""
        return [
            Voice(id=name, object="voice", model=self.bundle, language=self.language, rate=self.rate)
            for name in self.names
        ]

    def named(self, voice: str) -> str:
        """The bundle's own name of a voice. Raises ApiError (400) for an unknown one, naming those that there are."""
        if voice in self.names:
            return voice
        if voice in ALIASES:
            return self.names[0]
        message = f"voice: {voice[:80]!r} is not known; expected one of {', '.join(self.names)}"
        raise ApiError(HTTPStatus.BAD_REQUEST, message, code="voice_not_found", param="voice")

    def stream(self, voice: str, encoding: str, speed: float) -> SpeechStream:
        """A stream of one of `names`; the first call loads the weights. Raises BadInput for what they cannot do."""
        try:
            synthesizer = engines.synthesizer(self.models_dir, self.bundle)
        except BadBundle as error:  # bad input is the caller's fault; this is not
            raise RuntimeError(f"the voice cannot be loaded: {error}") from error
        return synthesizer.stream(voice, self.rate, encoding, speed)
