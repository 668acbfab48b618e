"""A text becomes the bytes of an audio file while the caller waits, or is refused because they would not fit.

The whole answer passes through one invocation: 6 MiB in which the bytes stand as base64, and 29 seconds. What will
not fit is refused before any work, by an estimate from the text; what the estimate lets pass is still watched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http import HTTPStatus
from itertools import chain
from typing import TYPE_CHECKING

from speech.audio import pcm
from speech.audio.files_write import WholeFile

from cloud.api import limits
from cloud.api.errors import ApiError
from cloud.api.voices import Voices

if TYPE_CHECKING:
    from speech.tts.stream import Chunk, SpeechStream

# Of speech. A second of it is 0.06 s of work for one processor, 0.1 s as Opus: 18 of the 29 s, and the voice is loaded.
MOST_S = 180.0
CHARACTER_S = 0.07  # of speech at speed 1, with room to spare: the voice takes 0.062 s for one of English prose
DIGIT_S = 0.4  # more than that: a digit is read as a word or two
SAMPLES = "pcm_f32le"  # from the voice to the file


@dataclass(frozen=True, slots=True)
class Form:
    """One `response_format`."""

    encoding: str  # of a file; "" for bare samples
    content_type: str
    bytes_per_s: int  # at most; of compressed forms a guess that is high


FORMS = {
    "mp3": Form("mp3", "audio/mpeg", 12_000),
    "opus": Form("ogg_opus", "audio/ogg", 12_000),
    "flac": Form("flac", "audio/flac", 48_000),
    "wav": Form("wav", "audio/wav", 48_000),
    "pcm": Form("", "audio/pcm", 48_000),
}


@dataclass(frozen=True, slots=True)
class Spoken:
    """The bytes of a file, and how long it sounds."""

    audio: bytes
    seconds: float


def speak(voices: Voices, text: str, voice: str, form: str, speed: float, time_is_up: Callable[[], bool]) -> Spoken:
    """`text` by one of `voices.names` as a file of `form`, a key of FORMS.

    Raises ApiError: 413 where the answer would be too large or take too long, 400 where the text has nothing to say.
    """
    chosen = FORMS[form]
    most_s = min(MOST_S, limits.MOST_BYTES / chosen.bytes_per_s)
    expected_s = expected(text, speed)
    if expected_s > most_s:
        raise _too_long(f"it would last about {expected_s:.0f} s, at most {most_s:.0f} s of {form} are", form)
    stream = voices.stream(voice, SAMPLES, speed)
    file = WholeFile(chosen.encoding, voices.rate) if chosen.encoding else _Bare()
    for chunk in _all(stream, text):
        file.receive(pcm.decode(chunk.audio, SAMPLES))
        if file.size > limits.MOST_BYTES or time_is_up():
            raise _too_long(f"after {stream.duration_s:.0f} s of speech there is no more room for what is", form)
    if not stream.duration_s:
        message = "input: there is nothing in it that can be spoken; expected words"
        raise ApiError(HTTPStatus.BAD_REQUEST, message, code="nothing_to_say", param="input")
    return Spoken(file.finish(), stream.duration_s)


def expected(text: str, speed: float) -> float:
    """Seconds that a text will last, rather too many than too few."""
    return (CHARACTER_S * len(text) + DIGIT_S * sum(map(str.isdigit, text))) / speed


def _all(stream: SpeechStream, text: str) -> Iterator[Chunk]:
    return chain(stream.receive(text), _rest(stream))


def _rest(stream: SpeechStream) -> Iterator[Chunk]:
    yield from stream.finish()  # not before what was received has been spoken


class _Bare:
    """Samples of 16 bits, little-endian, and no header; otherwise as WholeFile."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    @property
    def size(self) -> int:
        return len(self._bytes)

    def receive(self, samples: pcm.Samples) -> None:
        self._bytes += pcm.encode(samples, "pcm_s16le")

    def finish(self) -> bytes:
        return bytes(self._bytes)


def _too_long(found: str, form: str) -> ApiError:
    smaller = "" if form in ("mp3", "opus") else "; mp3 and opus take longer texts"
    message = f"input: {found} spoken while you wait: {limits.SHORTER}{smaller}"
    return ApiError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message, code="text_too_long", param="input")
