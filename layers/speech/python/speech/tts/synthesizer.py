"""The synthesiser: a bundle's weights and voices, and the streams that they speak. Push text in, take sound out.

    synthesizer = Synthesizer.load("models/bundles/tts-en-v1")
    speech = synthesizer.stream(rate=8000, encoding="pcm_mulaw")
    for token in tokens:
        for chunk in speech.receive(token):
            play(chunk.audio)
    for chunk in speech.finish():
        play(chunk.audio)

Weights belong to the synthesiser, state to the stream. How the text is cut into calls changes nothing in the sound.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from speech.audio.encoder import AudioEncoder
from speech.errors import BadBundle, BadInput, BadSnapshot
from speech.model.bundle import Bundle
from speech.tts import saved
from speech.tts.acoustic import AcousticModel
from speech.tts.excitation import RATE
from speech.tts.g2p.pronouncer import Pronouncer
from speech.tts.prosody import FASTEST, MOST_SEMITONES, SLOWEST, Prosody
from speech.tts.script import Script
from speech.tts.settings import SynthesisSettings
from speech.tts.speaker import Speaker, SpeakerState
from speech.tts.stream import SpeechStream
from speech.tts.user_lexicon import UserLexicon
from speech.tts.vocoder import VocoderModel

TASK = "synthesis"
LEAST_VOLUME, MOST_VOLUME = 0.1, 10.0


class Synthesizer:
    """Weights, voices and pronunciations, shared by every stream."""

    def __init__(self, bundle: Bundle, pronouncer: Pronouncer, threads: int = 1) -> None:
        """From a bundle that has been read. Raises BadBundle if it is not one this code can run."""
        self.settings = SynthesisSettings.of(bundle.manifest)
        if bundle.manifest.sample_rate != RATE:
            raise BadBundle(f"{bundle.folder} is for {bundle.manifest.sample_rate} Hz, expected {RATE} Hz")
        self.language = bundle.manifest.language
        self.stamp = f"{bundle.stamp} {pronouncer.stamp}".strip()
        self._pronouncer = pronouncer
        self._acoustic = AcousticModel.load(bundle, threads)
        self._vocoder = VocoderModel.load(bundle, self.settings.bands, threads)
        self._voices = _voices(bundle, self.settings)

    @classmethod
    def load(cls, folder: str | Path, threads: int = 1, verify: bool = True) -> Synthesizer:
        """The synthesiser of a bundle's folder, with the pronunciation bundle that its manifest names beside it.

        Raises BadBundle if either is incomplete, altered or of an unknown schema. `verify=False` skips the checksums.
        """
        bundle = Bundle.load(folder, TASK, verify)
        lexicon = SynthesisSettings.of(bundle.manifest).lexicon
        return cls(bundle, Pronouncer.load(bundle.folder.parent / lexicon, verify), threads)

    @property
    def voices(self) -> tuple[str, ...]:
        """The names that `stream` takes; the first speaks when none is asked for."""
        return tuple(self._voices)

    def stream(
        self,
        voice: str | None = None,
        rate: int = RATE,
        encoding: str = "pcm_s16le",
        speed: float = 1.0,
        pitch_st: float = 0.0,
        volume: float = 1.0,
        lexicon: UserLexicon | None = None,
    ) -> SpeechStream:
        """A new stream. `speed` 0.5 to 2, `pitch_st` -12 to 12 semitones, `volume` a factor of amplitude, 0.1 to 10.

        Raises BadInput for an unknown voice or a value out of range, BadAudio for an encoding or rate.
        """
        name = voice or self.voices[0]
        if name not in self._voices:
            raise BadInput(f"voice {name!r} is not known; expected one of {', '.join(self._voices)}")
        _check("speed", speed, SLOWEST, FASTEST)
        _check("pitch_st", pitch_st, -MOST_SEMITONES, MOST_SEMITONES)
        _check("volume", volume, LEAST_VOLUME, MOST_VOLUME)
        base = Prosody(speed, pitch_st, 20 * math.log10(volume))
        return self._stream(name, AudioEncoder(encoding, RATE, rate), base, lexicon)

    def resume(self, blob: bytes, lexicon: UserLexicon | None = None) -> SpeechStream:
        """The stream of a snapshot, which goes on to the byte as if it had never been put down; see `remaining`.

        `lexicon` must be the one that the stream was made with. Raises BadSnapshot unless it is, and if the blob is
        damaged, of another version, or of another bundle.
        """
        found = saved.unpack(blob, self.stamp)
        if found.voice not in self._voices:
            raise BadSnapshot(f"the snapshot speaks as {found.voice!r}; expected one of {', '.join(self._voices)}")
        stream = self._stream(found.voice, found.encoder, found.base, lexicon, found.speaker)
        if stream.script.lexicon.stamp != found.lexicon:
            raise BadSnapshot("the snapshot is of a stream with another lexicon: expected the same one")
        found.fill(stream)
        return stream

    def _stream(
        self,
        voice: str,
        encoder: AudioEncoder,
        base: Prosody,
        lexicon: UserLexicon | None,
        state: SpeakerState | None = None,
    ) -> SpeechStream:
        speaker = Speaker(self._acoustic, self._vocoder, self.settings, self._voices[voice], base, state)
        return SpeechStream(self.stamp, voice, Script(self._pronouncer, lexicon), speaker, encoder)


def _check(name: str, value: float, least: float, most: float) -> None:
    if not least <= value <= most:
        raise BadInput(f"{name} is {value}, expected {least} to {most}")


def _voices(bundle: Bundle, settings: SynthesisSettings) -> dict[str, NDArray[np.float32]]:
    with np.load(bundle.path("voices.npz")) as rows:
        if missing := sorted(set(settings.voices.values()) - set(rows.files)):
            raise BadBundle(f"{bundle.folder}: voices.npz has no {missing}")
        return {name: np.asarray(rows[row], np.float32) for name, row in settings.voices.items()}
