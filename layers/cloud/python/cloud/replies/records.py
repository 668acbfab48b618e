"""What is told of replies, as records beside those of the recogniser: their sound for who listens, and how they ended.

`reply` names an answer within its call: which holder of the call gave it, and its number with that one.
"""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING

from cloud.live.told import Told
from cloud.replies.speaking import Outcome

if TYPE_CHECKING:
    from speech.tts.stream import Chunk


def started(reply: str, turn: int, turn_end_s: float, at_s: float) -> Told:
    """Its first frame has left at `at_s`, in seconds since 1970; the caller had stopped at `turn_end_s` of the call."""
    return {"type": "reply_start", "reply": reply, "turn": turn, "turn_end_s": turn_end_s, "left_at_s": round(at_s, 3)}


def sound(reply: str, sequence: int, chunk: Chunk, text: str, encoding: str, rate: int) -> Told:
    """A piece of its sound, which follows that with the number before; made ahead of when it is to be heard."""
    words = [
        {"text": text[span.start : span.end], "start_s": round(span.start_s, 3)}
        for span in chunk.spans
        if span.type == "word"
    ]
    return {
        "type": "reply_audio",
        "reply": reply,
        "sequence": sequence,
        "start_s": round(chunk.start_s, 3),
        "duration_s": round(chunk.duration_s, 3),
        "encoding": encoding,
        "rate": rate,
        "audio": b64encode(chunk.audio).decode(),
        "words": words,
    }


def ended(reply: str, turn: int, turn_end_s: float, left_at_s: float | None, outcome: Outcome) -> Told:
    """Nothing more of it will be heard; when `interrupted`, what a listener has not played yet is to be thrown away.

    `left_at_s` is when its first frame left, in seconds since 1970; None: none has. `words` are (text, begin, end), in
    seconds from then: for the call's transcript, watchers had them with the sound.
    """
    return {
        "type": "reply_end",
        "reply": reply,
        "turn": turn,
        "turn_end_s": turn_end_s,
        "text": outcome.heard,
        "interrupted": outcome.interrupted,
        "failed": outcome.failed,
        "left_at_s": None if left_at_s is None else round(left_at_s, 3),
        "words": [] if left_at_s is None else [list(word) for word in outcome.words],
    }
