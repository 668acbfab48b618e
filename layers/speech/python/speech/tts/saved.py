"""The state of one speech stream as a snapshot, and back.

Text that waits is saved as text: what is made of it (words, phonemes, durations) is worked out again, to the same bits.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from speech.audio.encoder import AudioEncoder
from speech.errors import BadSnapshot
from speech.model import state
from speech.model.state import Value
from speech.tts.excitation import ExcitationState
from speech.tts.marks import TimedSpan
from speech.tts.prosody import Prosody
from speech.tts.sentences import Piece, Splitter
from speech.tts.speaker import Place, SpeakerState
from speech.tts.vocoder import VocoderState

if TYPE_CHECKING:
    from speech.tts.stream import Item, SpeechStream

_DECODER, _VOCODER, _ENCODER = "decoder.", "vocoder.", "encoder."


@dataclass(frozen=True)
class Saved:
    """What a snapshot holds, read and checked."""

    voice: str
    lexicon: str  # the stamp of the stream's own lexicon
    base: Prosody
    encoder: AudioEncoder
    speaker: SpeakerState
    text: Mapping[str, Any]  # what waits, and how much came before it
    words: tuple[TimedSpan, ...]

    def fill(self, stream: SpeechStream) -> None:
        """Gives a new stream the text, the words and the counts of the saved one."""
        from speech.tts.stream import Document

        for kind, *values in self.text["queue"]:
            if kind == "flush":
                stream.queue.append(None)
            elif kind == "piece":
                stream.queue.append(Piece(*values))
            else:
                source, start, spoken = values
                stream.queue.append(Document(source, start, stream.script.markup(source), spoken))
        stream.splitter = Splitter.resumed(*self.text["splitter"])
        stream.length, stream.base, stream.made = self.text["length"], self.text["base"], self.text["made"]
        stream.ended = self.text["ended"]
        stream.words.extend(self.words)


def pack(stream: SpeechStream) -> bytes:
    """A snapshot. Raises BadSnapshot if it does not fit in 256 KiB or the encoding cannot be put down."""
    speaker, vocoder = stream.speaker.state, stream.speaker.state.vocoder
    text = {
        "queue": [_item(item) for item in stream.queue],
        "splitter": stream.splitter.state,
        "length": stream.length,
        "base": stream.base,
        "made": stream.made,
        "ended": stream.ended,
        "place": speaker.place and astuple(speaker.place),
        "waiting": [astuple(span) for span in speaker.waiting],
        "sentence": speaker.sentence and astuple(speaker.sentence),
    }
    values: dict[str, Value] = {
        "voice": stream.voice,
        "lexicon": stream.script.lexicon.stamp,
        "base": np.array(astuple(stream.speaker.base), np.float64),
        "encoding": stream.encoder.encoding,
        "text": json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass"),
        "word_places": np.array([(w.start, w.end) for w in stream.words], np.int32).reshape(-1, 2),
        "word_times": np.array([(w.start_s, w.end_s) for w in stream.words], np.float64).reshape(-1, 2),
        "frames": speaker.frames,
        "samples": speaker.samples,
        "owed_s": float(speaker.owed_s),
        "cycles": float(vocoder.excitation.cycles),
        "frame": vocoder.excitation.frame,
        "drop": vocoder.drop,
        "gains": vocoder.gains,
    }
    values |= {_ENCODER + name: value for name, value in stream.encoder.state().items()}
    values |= {_VOCODER + name: value for name, value in vocoder.tensors.items()}
    values |= {_DECODER + name: value for name, value in (speaker.decoder or {}).items()}
    return state.pack(stream.stamp, values)


def unpack(blob: bytes, stamp: str) -> Saved:
    """What a stream is made of. Raises BadSnapshot if the blob is damaged, of another version, or foreign."""
    values = state.unpack(blob, stamp)
    try:
        text = json.loads(bytes(values["text"]).decode("utf-8", "surrogatepass"))  # type: ignore[arg-type]
        return Saved(
            voice=str(values["voice"]),
            lexicon=str(values["lexicon"]),
            base=Prosody(*np.asarray(values["base"]).tolist()),
            encoder=AudioEncoder.from_state(str(values["encoding"]), _under(values, _ENCODER)),
            speaker=_speaker(values, text),
            text=text,
            words=_words(values),
        )
    except KeyError as error:
        raise BadSnapshot(f"the snapshot lacks {error}") from error


def _speaker(values: Mapping[str, Value], text: Mapping[str, Any]) -> SpeakerState:
    excitation = ExcitationState(float(np.asarray(values["cycles"])), _number(values, "frame"))
    gains = np.asarray(values["gains"], np.float32)
    return SpeakerState(
        vocoder=VocoderState(_under(values, _VOCODER), excitation, _number(values, "drop"), gains),
        decoder=_under(values, _DECODER) or None,
        place=Place(*text["place"]) if text["place"] else None,
        frames=_number(values, "frames"),
        samples=_number(values, "samples"),
        owed_s=float(np.asarray(values["owed_s"])),
        waiting=[TimedSpan(*span) for span in text["waiting"]],
        sentence=TimedSpan(*text["sentence"]) if text["sentence"] else None,
    )


def _words(values: Mapping[str, Value]) -> tuple[TimedSpan, ...]:
    places, times = np.asarray(values["word_places"]).tolist(), np.asarray(values["word_times"]).tolist()
    return tuple(
        TimedSpan("word", start_s, start, end, "", end_s)
        for (start, end), (start_s, end_s) in zip(places, times, strict=True)
    )


def _item(item: Item) -> tuple[object, ...]:
    if item is None:
        return ("flush",)
    if isinstance(item, Piece):
        return ("piece", item.text, item.start, item.kind)
    return ("markup", item.source, item.start, item.spoken)


def _under(values: Mapping[str, Value], prefix: str) -> dict[str, Any]:
    return {name.removeprefix(prefix): np.asarray(v) for name, v in values.items() if name.startswith(prefix)}


def _number(values: Mapping[str, Value], name: str) -> int:
    return int(np.asarray(values[name]))
