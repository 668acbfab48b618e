"""What a recognition bundle says, beside its weights, about how to use them: the `settings` of its manifest."""

from __future__ import annotations

from dataclasses import dataclass, field

from speech.asr.decoder import DecoderConfig
from speech.asr.endpoint import EndpointRules
from speech.errors import BadBundle
from speech.model.bundle import Manifest
from speech.model.config import read_config


@dataclass(frozen=True)
class RecognitionSettings:
    """Every value has a default that fits the released models; a manifest overrides by name."""

    silence_tokens: tuple[int, ...] = (0,)  # outputs that mean no speech: the blank, a silence phone if there is one
    silence_probability: float = 0.9  # a frame is silent when these have more than this together
    endpoint: EndpointRules = field(default_factory=EndpointRules)
    word_start_shift_s: float = 0.02  # added to the time of a word's first label frame; measured on known durations
    word_end_shift_s: float = 0.04  # added to the end of the frame in which a word's last phone begins
    min_confidence: float = 0.0  # a segment whose words have less than this on average is taken for noise
    min_speech: float | None = None  # nats; a segment for which less speaks (`evidence`) is no speech; null: not asked
    decoder: DecoderConfig = field(default_factory=DecoderConfig)
    pronunciation: str | None = None  # name of the bundle that pronounces words the graph lacks, a folder beside this
    text: str | None = None  # name of the text bundle, a folder beside this one; null: no punctuation, no numbers

    @classmethod
    def of(cls, manifest: Manifest) -> RecognitionSettings:
        """Read from a manifest. Raises BadBundle naming the key that is wrong."""
        try:
            return read_config(cls, manifest.settings, "settings")
        except ValueError as error:
            raise BadBundle(f"bundle {manifest.id!r}: {error}") from error
