"""What a synthesis bundle says, beside its weights, about how to use them: the `settings` of its manifest."""

from __future__ import annotations

from dataclasses import dataclass, field

from speech.errors import BadBundle
from speech.model.bundle import Manifest
from speech.model.config import read_config


@dataclass(frozen=True)
class Pauses:
    """Silence between two clauses of one stream, in seconds, beside what the voice itself leaves."""

    clause: float = 0.0
    sentence: float = 0.25
    paragraph: float = 0.6


@dataclass(frozen=True)
class SynthesisSettings:
    """`voices` maps the names that callers use to rows of voices.npz; the first is the one that speaks unasked."""

    lexicon: str  # name of the pronunciation bundle, a folder beside this one
    voices: dict[str, str]
    pauses: Pauses = field(default_factory=Pauses)
    bands: int = 80  # mel bands between acoustic model and vocoder
    lead_units: int = 2  # of 25 ms: what is heard before the first symbol's own units; a listener waits for it
    leads: dict[str, int] = field(default_factory=dict)  # the same for sentences that begin with these phonemes
    onset_s: float = 0.035  # so long before its units a symbol is heard to begin: a habit of the voices' teacher

    @classmethod
    def of(cls, manifest: Manifest) -> SynthesisSettings:
        """Read from a manifest. Raises BadBundle naming the key that is wrong."""
        try:
            settings = read_config(cls, manifest.settings, "settings")
        except ValueError as error:
            raise BadBundle(f"bundle {manifest.id!r}: {error}") from error
        if not settings.voices:
            raise BadBundle(f"bundle {manifest.id!r}: settings.voices is empty, expected at least one voice")
        return settings
