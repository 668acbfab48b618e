"""Text in pieces becomes one sound: the same for every cut, equal to the oracle, with the times of all words."""

from __future__ import annotations

import itertools
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from speech.errors import BadAudio, BadInput, BadText
from speech.tts.marks import TimedSpan
from speech.tts.plan import plan
from speech.tts.prosody import Prosody
from speech.tts.script import line
from speech.tts.sentences import Piece
from speech.tts.synthesizer import Synthesizer

from tests.tiny import voice
from tests.unit.tts.speaking import joined, oracle, samples, spoken, synthesizer

TEXT = "The cat is here, and the dog is in the house. Hello world! Can it stop?"


@pytest.fixture(scope="module")
def synth(tmp_path_factory: pytest.TempPathFactory) -> Synthesizer:
    return synthesizer(voice.build(tmp_path_factory.mktemp("voice") / "hum"))


def close(found: np.ndarray, expected: np.ndarray) -> None:
    """To the rounding of a pitch in float32 over a sentence's phase."""
    np.testing.assert_allclose(found, expected, atol=1e-3 * np.abs(expected).max())


def test_the_sound_equals_the_oracle(synth: Synthesizer) -> None:
    audio, _ = spoken(synth, ["Hello world! Stop. "])
    expected = oracle(["həlˈO wˈɜɹld!", "stˈɑp."], synth.settings.pauses.sentence, level=-0.4)
    close(samples(audio), expected)


def test_a_clause_of_several_windows_equals_the_oracle_and_keeps_its_words(synth: Synthesizer) -> None:
    """Longer than two windows: neither sound nor words are lost or doubled where one ends."""
    text = " ".join(["The dog and the cat and the book of the world is hot"] * 3)
    clause = synth.stream().script.clause(Piece(text + ".", 0, "sentence"))
    assert clause is not None
    windows = {window.start for window in plan(clause, True, Prosody()).windows()}
    assert len(windows) > 2
    audio, spans = spoken(synth, [text + "."])
    close(samples(audio), oracle([line(clause.words)[0]], 0.0, level=-0.4, windows=windows))
    found = [span for span in spans if span.type == "word"]
    assert [text[s.start : s.end] for s in found] == text.split()
    assert all(a.end_s <= b.start_s for a, b in itertools.pairwise(found))


@pytest.mark.parametrize(("options", "level", "rate", "semitones"), [
    ({"voice": "high"}, 0.4, 1.0, 0.0), ({"speed": 2.0}, -0.4, 2.0, 0.0), ({"speed": 0.5}, -0.4, 0.5, 0.0),
    ({"pitch_st": -5.0}, -0.4, 1.0, -5.0),
])  # fmt: skip
def test_voice_speed_and_pitch_equal_the_oracle(
    synth: Synthesizer, options: dict[str, object], level: float, rate: float, semitones: float
) -> None:
    audio, _ = spoken(synth, ["Hello world!"], **options)
    expected = oracle(["həlˈO wˈɜɹld!"], 0.0, level, rate, semitones)
    close(samples(audio), expected)


def test_volume_is_a_factor(synth: Synthesizer) -> None:
    plain, loud = samples(spoken(synth, [TEXT])[0]), samples(spoken(synth, [TEXT], volume=2.0)[0])
    np.testing.assert_allclose(loud[HOP_IN:], 2 * plain[HOP_IN:], rtol=1e-5, atol=1e-7)


HOP_IN = 300  # the first frame rises from 1 to the volume


@cache
def in_one_piece(synth: Synthesizer) -> tuple[bytes, list[TimedSpan]]:
    return spoken(synth, [TEXT])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, len(TEXT)), max_size=8))
def test_text_may_be_cut_anywhere(synth: Synthesizer, cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(TEXT)]
    pieces = [TEXT[a:b] for a, b in itertools.pairwise(edges)]
    assert spoken(synth, pieces) == in_one_piece(synth)


def test_letter_by_letter_sound_begins_before_the_text_ends(synth: Synthesizer) -> None:
    stream = synth.stream()
    first = next(i for i, letter in enumerate(TEXT) if list(stream.receive(letter)))
    assert first < TEXT.index("Hello")


def test_word_times_are_in_the_callers_text(synth: Synthesizer) -> None:
    audio, spans = spoken(synth, [TEXT])
    words = [span for span in spans if span.type == "word"]
    assert [TEXT[w.start : w.end].strip(".,!?") for w in words] == TEXT.translate(str.maketrans("", "", ".,!?")).split()
    starts = [w.start_s for w in words]
    assert starts == sorted(starts)
    assert all(w.end_s is not None and w.start_s < w.end_s <= len(audio) / 4 / 24000 for w in words)
    sentences = [TEXT[s.start : s.end] for s in spans if s.type == "sentence"]
    assert sentences == ["The cat is here, and the dog is in the house.", "Hello world!", "Can it stop?"]


def test_phonemes_lie_within_their_words(synth: Synthesizer) -> None:
    _, spans = spoken(synth, ["Hello world!"])
    assert "".join(span.value for span in spans if span.type == "phoneme") == "həlˈOwˈɜɹld"
    for word in (span for span in spans if span.type == "word"):
        inside = [s for s in spans if s.type == "phoneme" and (s.start, s.end) == (word.start, word.end)]
        assert inside[0].start_s == word.start_s
        assert inside[-1].end_s == word.end_s


def test_chunks_count_their_own_time(synth: Synthesizer) -> None:
    stream = synth.stream(encoding="pcm_s16le")
    chunks = [*stream.receive(TEXT), *stream.finish()]
    at = 0
    for chunk in chunks:
        assert chunk.start_s == at / 24000
        at += len(chunk.audio) // 2
    assert stream.duration_s == at / 24000


@pytest.mark.parametrize("text", ["", " \n\t", "...!?", "😀 🎉", "\x00\x07\x1b"])
def test_nothing_to_say_is_no_sound(synth: Synthesizer, text: str) -> None:
    assert spoken(synth, [text]) == (b"", [])


def test_a_long_text_starts_as_soon_as_a_short_one(synth: Synthesizer) -> None:
    """Sound comes from the first clause alone: the first chunk of 50,000 characters is that of two lines."""
    text = TEXT + " "
    long = next(synth.stream().receive(text * (50_000 // len(text))))
    assert long == next(synth.stream().receive(text * 2))


def test_cancel_stops_at_once_and_says_what_was_heard(synth: Synthesizer) -> None:
    stream = synth.stream()
    chunks = stream.receive(TEXT)
    for _ in range(8):
        next(chunks)
    heard = stream.cancel()
    assert list(chunks) == []
    assert heard.words
    assert TEXT[: heard.end].rsplit(maxsplit=1)[-1] == TEXT[heard.words[-1].start : heard.words[-1].end].strip(".,")
    assert all(word.start_s < stream.duration_s for word in heard.words)
    assert len(stream.cancel(played_s=heard.words[1].start_s).words) == 1
    with pytest.raises(ValueError, match="cancelled"):
        stream.receive("more")


def test_the_lead_depends_on_the_first_phoneme_and_times_on_the_onset(tmp_path: Path) -> None:
    folder = voice.build(tmp_path / "hum", settings={"leads": {"h": 4, "s": 2}, "onset_s": 0.03})
    synth = synthesizer(folder)
    starts = [spoken(synth, [text])[1][0].start_s for text in ("Hello.", "Stop.", "World.")]
    assert starts == pytest.approx([0.1 - 0.03, 0.05 - 0.03, 0.0])


def test_flush_speaks_what_waits_and_the_stream_goes_on(synth: Synthesizer) -> None:
    stream = synth.stream(encoding="pcm_f32le")
    assert list(stream.receive("hello world")) == []
    flushed, spans = joined(stream.flush())
    expected = oracle(["həlˈO wˈɜɹld."], 0.0, level=-0.4)
    close(samples(flushed), expected)
    assert [s.type for s in spans].count("word") == 2
    rest, more = joined([*stream.receive("Stop."), *stream.finish()])
    assert [s.start for s in more if s.type == "word"] == [len("hello world")]
    assert len(rest) > 0


def test_what_is_not_read_waits_for_the_next_call(synth: Synthesizer) -> None:
    stream = synth.stream(encoding="pcm_f32le")
    first = next(stream.receive(TEXT[:60]))
    stream.receive(TEXT[60:])  # not read at all
    audio, _ = joined([first, *stream.finish()])
    assert audio == spoken(synth, [TEXT])[0]


def test_markup_breaks_marks_and_prosody(synth: Synthesizer) -> None:
    source = '<speak>Hello <mark name="m"/>world<break time="500ms"/> <prosody rate="200%">stop</prosody></speak>'
    stream = synth.stream(encoding="pcm_f32le")
    audio, spans = joined([*stream.receive_markup(source), *stream.finish()])
    marks = [s for s in spans if s.type == "ssml"]
    words = [s for s in spans if s.type == "word"]
    assert [(m.value, m.start_s) for m in marks] == [("m", words[1].start_s)]
    assert [source[w.start : w.end] for w in words] == ["Hello", "world", "stop"]
    quiet = samples(audio)[round(24000 * (words[1].end_s or 0)) :]
    assert np.abs(quiet[12_000 - 3_000 : 12_000]).max() < 1e-3


def test_markup_after_text_has_places_in_all_that_was_given(synth: Synthesizer) -> None:
    stream = synth.stream()
    chunks = [
        *stream.receive("Hello. "),
        *stream.receive_markup("<speak>stop</speak>"),
        *stream.receive("cat"),
        *stream.finish(),
    ]
    _, spans = joined(chunks)
    everything = "Hello. <speak>stop</speak>cat"
    assert [everything[s.start : s.end] for s in spans if s.type == "word"] == ["Hello", "stop", "cat"]


def test_wrong_markup_changes_nothing(synth: Synthesizer) -> None:
    stream = synth.stream(encoding="pcm_f32le")
    with pytest.raises(BadText):
        stream.receive_markup("<speak>stop")
    assert joined([*stream.receive("Hello world!"), *stream.finish()]) == spoken(synth, ["Hello world!"])


@pytest.mark.parametrize(("options", "message"), [
    ({"voice": "nobody"}, "expected one of low, high"), ({"speed": 2.5}, "0.5 to 2"), ({"speed": np.nan}, "speed"),
    ({"pitch_st": 20.0}, "-12"), ({"volume": 0.0}, "0.1 to 10"),
])  # fmt: skip
def test_options_out_of_range_are_refused(synth: Synthesizer, options: dict[str, object], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        synth.stream(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize("options", [{"rate": 11_025}, {"encoding": "aac"}, {"rate": 22_050, "encoding": "ogg_opus"}])
def test_encodings_and_rates_that_cannot_be_are_refused(synth: Synthesizer, options: dict[str, object]) -> None:
    with pytest.raises(BadAudio, match="expected one of"):
        synth.stream(**options)  # type: ignore[arg-type]


def test_a_bundle_with_another_graph_is_refused(tmp_path: Path) -> None:
    folder = voice.build(tmp_path / "hum")
    (folder / "decoder.onnx").write_bytes(voice.encoder())
    with pytest.raises(BadInput, match="altered"):
        synthesizer(folder)
