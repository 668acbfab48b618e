"""Snapshots of speech: put down between any two chunks, taken up in another process, the same sound to the last bit."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from speech.errors import BadSnapshot
from speech.model.bundle import Bundle, write_manifest
from speech.tts.marks import TimedSpan
from speech.tts.stream import Chunk, SpeechStream
from speech.tts.synthesizer import Synthesizer
from speech.tts.user_lexicon import Entry, UserLexicon

from tests.tiny import voice
from tests.unit.tts.speaking import joined, spoken, synthesizer

LONG = "The dog and the cat and the book of the world is in the house and it is hot and the dog can watch it"
TEXT = f"The cat is here, and the dog is in it.\n\nHello world! Can it stop? \ud800 \x07 The end, of “it”. {LONG}."
MARKUP = (
    '<speak>The cat is <mark name="m"/>here<break time="800ms"/> <prosody rate="150%" pitch="+2st">and the dog'
    '</prosody> <break time="1s"/><mark name="last"/></speak>'
)
OTHER_PROCESS = """
import pickle, sys
from speech.tts.synthesizer import Synthesizer
blob, rest = pickle.load(sys.stdin.buffer)
stream = Synthesizer.load(sys.argv[1]).resume(blob)
chunks = [*stream.remaining(), *stream.receive(rest)]
blob = stream.snapshot()
pickle.dump((chunks, blob, [*stream.finish()]), sys.stdout.buffer)
"""


@pytest.fixture(scope="module")
def synth(tmp_path_factory: pytest.TempPathFactory) -> Synthesizer:
    return synthesizer(voice.build(tmp_path_factory.mktemp("voice") / "hum"))


def put_down_after_each(synth: Synthesizer, stream: SpeechStream, after: set[int]) -> Iterator[Chunk]:
    """Chunks that remain of a stream; after those of these numbers it is put down and taken up."""
    number, chunks = 0, stream.remaining()
    while (chunk := next(chunks, None)) is not None:
        yield chunk
        if number in after and not stream.closed:
            stream = synth.resume(stream.snapshot())
            chunks = stream.remaining()
        number += 1


@cache
def in_one_piece(synth: Synthesizer, **options: object) -> tuple[bytes, list[TimedSpan]]:
    """What a stream says that is never put down: the same for all examples of the same options."""
    return spoken(synth, [TEXT], **options)


@settings(max_examples=40, deadline=None)
@given(
    cuts=st.lists(st.integers(0, len(TEXT)), max_size=6),
    after=st.sets(st.integers(0, 60)),
    rate=st.sampled_from([8000, 22_050, 24_000]),
    encoding=st.sampled_from(["pcm_s16le", "pcm_mulaw", "wav"]),
)
def test_put_down_and_taken_up_anywhere_gives_the_same_sound(
    synth: Synthesizer, cuts: list[int], after: set[int], rate: int, encoding: str
) -> None:
    options = {"rate": rate, "encoding": encoding, "voice": "high", "speed": 1.3, "volume": 0.7}
    stream, chunks = synth.stream(**options), list[Chunk]()  # type: ignore[arg-type]
    for begin, end in zip([0, *sorted(cuts)], [*sorted(cuts), len(TEXT)], strict=True):
        some = stream.receive(TEXT[begin:end])
        chunks += [chunk for _, chunk in zip(range(len(after)), some, strict=False)]  # the rest waits
        stream = synth.resume(stream.snapshot())
    stream.finish()
    chunks += put_down_after_each(synth, stream, after)
    assert joined(chunks) == in_one_piece(synth, **options)


def marked_up(synth: Synthesizer) -> SpeechStream:
    made = synth.stream(encoding="pcm_f32le")
    made.receive("Hello. ")
    made.receive_markup(MARKUP)
    made.receive("Stop.")
    made.flush()
    made.receive("cat")
    made.finish()
    return made


@cache
def marked_up_in_one_piece(synth: Synthesizer) -> tuple[bytes, list[TimedSpan]]:
    return joined(marked_up(synth).remaining())


@settings(max_examples=20, deadline=None)
@given(after=st.sets(st.integers(0, 60), min_size=1))
def test_markup_with_its_pauses_and_marks_is_put_down_as_well(synth: Synthesizer, after: set[int]) -> None:
    assert joined(put_down_after_each(synth, marked_up(synth), after)) == marked_up_in_one_piece(synth)


def test_another_process_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    shutil.copytree(Path(__file__).parents[3] / "models" / "bundles" / "lexicon-en-v1", tmp_path / "lexicon")
    folder = voice.build(tmp_path / "hum")
    stream = Synthesizer.load(folder).stream(rate=8000)
    chunks = stream.receive(TEXT)
    for _ in range(9):
        next(chunks)
    blob, rest = stream.snapshot(), " And so on, for a while. More"
    done = subprocess.run(
        [sys.executable, "-c", OTHER_PROCESS, str(folder)],
        input=pickle.dumps((blob, rest)),
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        check=True,
    )
    assert pickle.loads(done.stdout) == ([*chunks, *stream.receive(rest)], stream.snapshot(), [*stream.finish()])


def test_cancel_after_a_snapshot_knows_what_was_heard(synth: Synthesizer) -> None:
    stream = synth.stream()
    chunks = stream.receive(TEXT)
    for _ in range(20):
        next(chunks)
    again = synth.resume(stream.snapshot())
    assert again.cancel(played_s=1.0) == stream.cancel(played_s=1.0)
    assert again.cancel() == stream.cancel()


def test_a_snapshot_is_the_same_however_the_text_was_cut(synth: Synthesizer) -> None:
    one, other = synth.stream(), synth.stream()
    list(one.receive(TEXT))
    for letter in TEXT:
        list(other.receive(letter))
    assert one.snapshot() == other.snapshot()


def test_taking_a_snapshot_changes_nothing(synth: Synthesizer) -> None:
    stream = synth.stream()
    next(stream.receive(TEXT))
    assert stream.snapshot() == stream.snapshot() == synth.resume(stream.snapshot()).snapshot()


def test_ten_thousand_words_fit(synth: Synthesizer) -> None:
    stream = synth.stream()
    for _ in range(200):
        list(stream.receive("The cat is here. "))
    stream.receive("The cat is here. " * 2500)
    assert len(stream.snapshot()) < 256 * 1024
    stream.receive("The cat is here. " * 20_000)
    with pytest.raises(BadSnapshot, match="the limit is"):
        stream.snapshot()


def test_the_voice_that_ships_fits_with_room() -> None:
    synth = Synthesizer.load(Path(__file__).parents[3] / "models" / "bundles" / "tts-en-v1")
    stream, largest = synth.stream(rate=44_100), 0
    for chunk in stream.receive("Dr. Smith paid $3.50 for it, and then he went home to the house by the sea. Well. "):
        largest = max(largest, len(stream.snapshot()))
        assert chunk
    assert 0 < largest < 220 * 1024


def test_damaged_and_foreign_snapshots_are_refused(synth: Synthesizer, tmp_path: Path) -> None:
    blob = synth.stream().snapshot()
    damaged = bytearray(blob)
    damaged[len(blob) // 2] ^= 1
    for bad in (bytes(damaged), blob[:-1], b"", b"UTSS"):
        with pytest.raises(BadSnapshot):
            synth.resume(bad)
    other = voice.build(tmp_path / "hum", settings={"onset_s": 0.01})
    voices = other / "voices.npz"
    voices.write_bytes(voices.read_bytes() + b"\0")
    write_manifest(other, Bundle.load(other, verify=False).manifest)
    with pytest.raises(BadSnapshot, match=r"belongs to bundle 'hum:[0-9a-f]{12}', expected 'hum:[0-9a-f]{12}'"):
        synthesizer(other).resume(blob)


def test_a_lexicon_goes_on_as_the_same_one_only(synth: Synthesizer) -> None:
    own = UserLexicon([Entry("cat", alias="dog")])
    stream = synth.stream(lexicon=own)
    stream.receive(TEXT)
    blob = stream.snapshot()
    assert joined(synth.resume(blob, own).remaining()) == joined(stream.remaining())
    for other in (None, UserLexicon([Entry("cat", alias="hat")])):
        with pytest.raises(BadSnapshot, match="another lexicon"):
            synth.resume(blob, other)


@pytest.mark.parametrize("encoding", ["mp3", "flac", "ogg_opus"])
def test_compressed_speech_cannot_be_put_down(synth: Synthesizer, encoding: str) -> None:
    with pytest.raises(BadSnapshot, match=r"cannot be put down; expected pcm_\* or wav"):
        synth.stream(encoding=encoding).snapshot()


def test_a_stream_that_is_over_has_nothing_to_save(synth: Synthesizer) -> None:
    finished, cancelled = synth.stream(), synth.stream()
    list(finished.finish())
    cancelled.cancel()
    for stream in (finished, cancelled):
        with pytest.raises(ValueError, match="nothing to resume"):
            stream.snapshot()
