"""The recogniser over the tiny bundle: real words out of tones, whatever the chunks, the rate and the company."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from speech.asr.recognizer import Recognizer
from speech.errors import BadAudio
from speech.events import Event, Final, Partial, TurnEnd

from tests.tiny.build import FOLDER
from tests.tiny.sound import GAP_S, say, word_s

RECOGNIZER = Recognizer.load(FOLDER)
DIALOGUE = say("cat dog go 1.2 tad two 0.3 oak", before_s=0.7, after_s=0.4)


def events_of(samples: np.ndarray, cuts: list[int] | None = None, rate: int = 16000, live: bool = True) -> list[Event]:
    stream = RECOGNIZER.stream(rate, live)
    events = [e for part in np.split(samples, sorted(cuts or [])) for e in stream.receive(part)]
    return events + stream.finish()


WHOLE = {live: events_of(DIALOGUE, live=live) for live in (False, True)}


def placed(event: Partial | Final) -> list[tuple[str, float, float]]:
    return [(word.text, word.start_s, word.end_s) for word in event.words]


def finals(events: list[Event]) -> list[str]:
    return [event.raw_text for event in events if isinstance(event, Final)]


def test_words_come_out_in_segments_and_turns() -> None:
    events = events_of(DIALOGUE)
    assert finals(events) == ["cat dog go", "tad two oak"]
    assert [e.segment for e in events if isinstance(e, Final)] == [0, 1]
    assert [e.reason for e in events if isinstance(e, TurnEnd)] == ["silence", "finish"]
    assert isinstance(events[-1], TurnEnd)


def test_each_word_has_the_time_at_which_it_sounds() -> None:
    words = [w for e in events_of(DIALOGUE) if isinstance(e, Final) for w in e.words]
    start = 0.7
    for word, text in zip(words, ["cat", "dog", "go", "tad", "two", "oak"], strict=True):
        if text == "tad":
            start += 1.2
        if text == "oak":
            start += 0.3
        assert (word.text, pytest.approx(word.start_s, abs=0.06)) == (text, start)
        assert word.start_s < word.end_s <= start + word_s(text) + 0.06
        assert 0.5 < word.confidence <= 1
        start += word_s(text) + GAP_S


@settings(max_examples=10, deadline=None)
@given(cuts=st.lists(st.integers(0, len(DIALOGUE)), max_size=40), live=st.booleans())
def test_any_chunking_gives_the_same_events(cuts: list[int], live: bool) -> None:
    assert events_of(DIALOGUE, cuts, live=live) == WHOLE[live]


def test_sample_by_sample_gives_the_same_events() -> None:
    samples = say("cat go", before_s=0.1)
    assert events_of(samples, list(range(1, len(samples)))) == events_of(samples)


@pytest.mark.parametrize("rate", [8000, 11025, 16000, 22050, 44100, 48000])
def test_every_sample_rate_gives_the_same_words_at_the_same_times(rate: int) -> None:
    samples = say("cat dog 1.2 oak", rate, before_s=0.5)
    found = [e for e in events_of(samples, rate=rate) if isinstance(e, Final)]
    assert [f.raw_text for f in found] == ["cat dog", "oak"]
    assert found[0].start_s == pytest.approx(0.5, abs=0.06)


def test_files_and_live_streams_find_the_same_words_and_only_live_ones_tell_partials() -> None:
    live, file = events_of(DIALOGUE), events_of(DIALOGUE, live=False)
    assert file == [event for event in live if not isinstance(event, Partial)]
    assert any(isinstance(event, Partial) for event in live)


def test_partials_grow_to_the_final_and_their_stable_words_stay() -> None:
    events = events_of(DIALOGUE)
    for number in (0, 1):
        partials = [e for e in events if isinstance(e, Partial) and e.segment == number]
        final = next(e for e in events if isinstance(e, Final) and e.segment == number)
        assert [w.text for w in partials[-1].words] == [w.text for w in final.words]
        for partial in partials:
            assert placed(partial)[: partial.stable] == placed(final)[: partial.stable]
        assert len(set(partials)) == len(partials)


def test_a_final_comes_within_the_pause_that_ends_it() -> None:
    stream, told = RECOGNIZER.stream(), []
    for i, chunk in enumerate(np.split(DIALOGUE, range(2560, len(DIALOGUE), 2560))):
        told += [(i * 0.16 + 0.16, e) for e in stream.receive(chunk) if isinstance(e, Final)]
    heard_s, final = told[0]
    assert heard_s - final.end_s < 0.8 + 0.12 + 0.04 + 0.16 + 0.1  # pause, look-ahead, frame, chunk, end of the tone


def test_written_text_comes_with_the_words() -> None:
    [final] = [e for e in events_of(say("twenty two dog")) if isinstance(e, Final)]
    assert (final.raw_text, final.text) == ("twenty two dog", "22 dog.")


def test_many_streams_in_one_step_get_what_each_would_get_alone() -> None:
    inputs = [say("cat dog 1.0 go", before_s=0.1 * i) for i in range(5)]
    streams = [RECOGNIZER.stream() for _ in inputs]
    got: list[list[Event]] = [[] for _ in inputs]
    for at in range(0, max(map(len, inputs)), 2560):
        told = Recognizer.step_many(streams, [x[at : at + 2560] for x in inputs])
        got = [kept + new for kept, new in zip(got, told, strict=True)]
    for samples, stream, events in zip(inputs, streams, got, strict=True):
        assert events + stream.finish() == events_of(samples)


def silence() -> np.ndarray:
    return np.zeros(16000 * 5, np.float32)


def noise() -> np.ndarray:
    return (np.random.default_rng(3).standard_normal(16000 * 5) * 0.1).astype(np.float32)


def hum() -> np.ndarray:
    return (0.3 * np.sin(2 * np.pi * 50 * np.arange(16000 * 5) / 16000)).astype(np.float32)


@pytest.mark.parametrize("sound", [silence, noise, hum])
def test_what_is_no_speech_gives_no_events(sound) -> None:  # type: ignore[no-untyped-def]
    assert events_of(sound()) == []


@pytest.mark.parametrize("count", [0, 1, 159, 160, 400, 5000])
def test_the_shortest_streams_end_quietly(count: int) -> None:
    assert events_of(np.zeros(count, np.float32)) == []


def test_no_word_lies_after_the_end_of_the_audio() -> None:
    samples = say("cat dog")[: -round(GAP_S * 16000) - 800]
    [final] = [e for e in events_of(samples) if isinstance(e, Final)]
    assert final.end_s <= len(samples) / 16000


def test_not_a_number_does_not_poison_a_stream() -> None:
    samples = say("cat 1.0 dog")
    samples[9000:9010] = np.nan
    assert finals(events_of(samples)) == ["cat", "dog"]


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        (np.zeros((10, 2), np.float32), r"one channel of float samples \(n,\), got float32 \(10, 2\)"),
        (np.zeros(10, np.int16), "got int16"),
        (np.full(10, 3000.0, np.float32), "in -1 to 1, got a peak of 3000: integers must be scaled first"),
    ],
)
def test_wrong_samples_are_refused_with_what_was_expected(samples: np.ndarray, message: str) -> None:
    with pytest.raises(BadAudio, match=message):
        RECOGNIZER.stream().receive(samples)


def test_a_rate_out_of_range_is_refused() -> None:
    with pytest.raises(BadAudio, match="4000 Hz is not supported"):
        RECOGNIZER.stream(4000)


def test_a_finished_stream_takes_nothing_more() -> None:
    stream = RECOGNIZER.stream()
    stream.finish()
    assert stream.finish() == []
    with pytest.raises(ValueError, match="the stream is finished"):
        stream.receive(silence())


def test_a_stream_twice_in_one_step_and_streams_of_two_recognisers_are_mistakes() -> None:
    stream, other = RECOGNIZER.stream(), Recognizer.load(FOLDER).stream()
    with pytest.raises(ValueError, match="the same stream was given twice"):
        Recognizer.step_many([stream, stream], [silence(), silence()])
    with pytest.raises(ValueError, match="different recognisers"):
        Recognizer.step_many([stream, other], [silence(), silence()])
    assert Recognizer.step_many([], []) == []
