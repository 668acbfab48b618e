"""A transcript in the formats of OpenAI's `audio/transcriptions`, as its clients' types have them.

Format: OpenAI API reference, "Create transcription". What a search over pronunciations has no counterpart for (text
tokens, a sampling temperature, a chance of no speech) has the value that says so.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from typing import Literal

from speech.events import Final, Word
from speech.text.transcript import Transcript
from typing_extensions import TypedDict

LANGUAGE_NAMES = {"en": "english"}
SEEK_HZ = 100  # OpenAI counts `seek` in frames of 10 ms


class Usage(TypedDict):
    """What a transcription counts as."""

    type: Literal["duration"]
    seconds: int


class Plain(TypedDict):
    """`response_format=json`."""

    text: str
    usage: Usage


class TimedWord(TypedDict):
    """A written word; times in seconds."""

    word: str
    start: float
    end: float


class Segment(TypedDict):
    """A stretch between two pauses."""

    id: int
    seek: int
    start: float
    end: float
    text: str
    tokens: list[int]  # empty: there are no text tokens
    temperature: float  # 0: nothing is sampled
    avg_logprob: float  # mean of the logarithms of the words' confidences
    compression_ratio: float
    no_speech_prob: float  # 0: what is taken for noise becomes no segment


class Verbose(TypedDict, total=False):
    """`response_format=verbose_json`; `words` and `segments` where they were asked for."""

    task: Literal["transcribe"]
    language: str
    duration: float
    text: str
    words: list[TimedWord]
    segments: list[Segment]
    usage: Usage


def text_of(transcript: Transcript) -> str:
    """All that was said, as one line."""
    return " ".join(final.text for _, final in transcript.in_time() if final.text)


def plain(transcript: Transcript) -> Plain:
    """The text."""
    return Plain(text=text_of(transcript), usage=_usage(transcript))


def verbose(transcript: Transcript, granularities: Sequence[str]) -> Verbose:
    """The text with times: of words, of segments, or of both."""
    finals = [final for _, final in transcript.in_time() if final.text]
    language = transcript.language.split("-", maxsplit=1)[0]
    answer = Verbose(
        task="transcribe",
        language=LANGUAGE_NAMES.get(language, language),
        duration=round(transcript.duration_s, 3),
        text=text_of(transcript),
    )
    if "word" in granularities:
        answer["words"] = [word for final in finals for word in _words(final)]
    if "segment" in granularities:
        answer["segments"] = [_segment(number, final) for number, final in enumerate(finals)]
    answer["usage"] = _usage(transcript)
    return answer


def _words(final: Final) -> list[TimedWord]:
    return [
        TimedWord(word=token.text, start=round(token.start_s, 3), end=round(token.end_s, 3))
        for token in final.tokens
        if token.kind == "word"
    ]


def _segment(number: int, final: Final) -> Segment:
    written = final.text.encode()
    return Segment(
        id=number,
        seek=round(final.start_s * SEEK_HZ),
        start=round(final.start_s, 3),
        end=round(final.end_s, 3),
        text=final.text,
        tokens=[],
        temperature=0.0,
        avg_logprob=round(_mean_log(final.words), 4),
        compression_ratio=round(len(written) / len(zlib.compress(written)), 4),
        no_speech_prob=0.0,
    )


def _mean_log(words: Sequence[Word]) -> float:
    return sum(math.log(max(word.confidence, 1e-6)) for word in words) / max(1, len(words))


def _usage(transcript: Transcript) -> Usage:
    return Usage(type="duration", seconds=math.ceil(transcript.duration_s))
