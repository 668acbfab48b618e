"""Streams with wishes of their own: whatever the cut, the company and the process, and what a filter lets through."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from speech.asr.options import StreamOptions
from speech.asr.recognizer import Recognizer
from speech.errors import BadSnapshot, BadVocabulary
from speech.events import Event, Final, Partial, TurnEnd
from speech.model import state

from tests.tiny.build import FOLDER
from tests.tiny.sound import say

RECOGNIZER = Recognizer.load(FOLDER)
DIALOGUE = say("cat dakot dog 1.2 go tad 0.3 dakot oak", 8000, before_s=0.7, after_s=0.4)
OWN = {"phrase": "Dakot", "pronunciations": ["dakot"]}
ALIKE = {"phrase": "Dackott", "pronunciations": ["dakot"]}
WISHES = [
    None,
    StreamOptions.read({"vocabulary": [OWN]}),
    StreamOptions.read({"vocabulary": [OWN, ALIKE, "dog go"], "alternatives": 3}),
    StreamOptions.read({"vocabulary": [OWN], "vocabulary_filter": ["dakot"], "vocabulary_filter_method": "mask"}),
    StreamOptions.read({"vocabulary_filter": ["dog"], "vocabulary_filter_method": "remove"}),
    StreamOptions.read({"vocabulary_filter": ["cat"], "vocabulary_filter_method": "tag", "alternatives": 1}),
]


def events_of(options: StreamOptions | None, samples: np.ndarray = DIALOGUE, live: bool = True) -> list[Event]:
    stream = RECOGNIZER.stream(8000, live, options)
    return stream.receive(samples) + stream.finish()


@cache
def in_one_piece(wishes: int, live: bool = True) -> list[Event]:
    """What is told of the whole dialogue with the wishes of this number."""
    return events_of(WISHES[wishes], live=live)


def finals(events: list[Event]) -> list[Final]:
    return [event for event in events if isinstance(event, Final)]


def test_a_word_of_ones_own_is_missed_without_the_vocabulary_and_found_and_written_with_it() -> None:
    assert not any("dakot" in final.raw_text for final in finals(events_of(None)))
    found = finals(events_of(WISHES[1]))
    assert [final.raw_text for final in found] == ["cat dakot dog", "go tad dakot oak"]
    assert [final.text for final in found] == ["Cat Dakot dog.", "Go tad Dakot oak."]


@settings(max_examples=15, deadline=None)
@given(
    cuts=st.lists(st.integers(0, len(DIALOGUE)), max_size=10),
    wishes=st.integers(0, len(WISHES) - 1),
    live=st.booleans(),
)
def test_put_down_and_taken_up_at_any_points_gives_the_same_events(cuts: list[int], wishes: int, live: bool) -> None:
    stream, events = RECOGNIZER.stream(8000, live, WISHES[wishes]), []
    for part in np.split(DIALOGUE, sorted(cuts)):
        events += stream.receive(part)
        stream = RECOGNIZER.resume(stream.snapshot())
    assert events + stream.finish() == in_one_piece(wishes, live)


def test_another_recogniser_takes_a_stream_up_with_its_vocabulary() -> None:
    stream = RECOGNIZER.stream(8000, options=WISHES[2])
    events = stream.receive(DIALOGUE[:9000])
    again = Recognizer.load(FOLDER).resume(stream.snapshot())
    assert events + again.receive(DIALOGUE[9000:]) + again.finish() == events_of(WISHES[2])


def test_streams_with_different_wishes_share_a_step() -> None:
    streams = [RECOGNIZER.stream(8000, options=wishes) for wishes in (*WISHES, *WISHES)]
    told: list[list[Event]] = [[] for _ in streams]
    for part in np.split(DIALOGUE, range(1000, len(DIALOGUE), 1000)):
        for heard, new in zip(told, Recognizer.step_many(streams, [part] * len(streams)), strict=True):
            heard.extend(new)
    for number, (stream, events) in enumerate(zip(streams, told, strict=True)):
        assert events + stream.finish() == in_one_piece(number % len(WISHES))


def test_a_snapshot_is_the_same_however_the_audio_was_cut_and_names_no_lexicon() -> None:
    one, other = (RECOGNIZER.stream(8000, options=WISHES[2]) for _ in range(2))
    one.receive(DIALOGUE[:20000])
    for part in np.split(DIALOGUE[:20000], range(77, 20000, 777)):
        other.receive(part)
    assert one.snapshot() == other.snapshot()


def test_a_stream_without_wishes_has_the_snapshot_it_always_had() -> None:
    values = state.unpack(RECOGNIZER.stream(options=StreamOptions()).snapshot(), RECOGNIZER.stamp)
    assert not {"hearing", "heard"} & set(values)


@pytest.mark.parametrize("packed", [b"x", b"x\x9c\xabV*\x04\x00\x01X\x00\xb8"])
def test_a_vocabulary_that_cannot_be_read_is_refused(packed: bytes) -> None:
    values = state.unpack(RECOGNIZER.stream().snapshot(), RECOGNIZER.stamp)
    with pytest.raises(BadSnapshot, match="the snapshot's vocabulary cannot be read"):
        RECOGNIZER.resume(state.pack(RECOGNIZER.stamp, values | {"hearing": packed}))


def test_the_largest_vocabulary_fits_a_snapshot() -> None:
    letters, values = np.random.default_rng(1).choice(list("kadotg"), (500, 19)), []
    for row in letters:
        word = "".join(row.tolist())
        values.append({"phrase": word[:10], "pronunciations": [word[10:]]})
    stream = RECOGNIZER.stream(options=StreamOptions.read({"vocabulary": values, "alternatives": 10}))
    stream.receive(say(" ".join(["cat dog go tad"] * 8)))
    plain = RECOGNIZER.stream()
    plain.receive(say(" ".join(["cat dog go tad"] * 8)))
    assert len(stream.snapshot()) - len(plain.snapshot()) < 32 * 1024


def test_a_phrase_that_cannot_be_said_is_named_before_any_audio() -> None:
    with pytest.raises(BadVocabulary, match="does not know 'zyntrix'"):
        RECOGNIZER.stream(options=StreamOptions.read({"vocabulary": ["Zyntrix"]}))


def test_masked_words_show_in_no_event() -> None:
    events = events_of(WISHES[3])
    assert "dakot" not in repr(events).lower()
    assert [final.text for final in finals(events)] == ["Cat *** dog.", "Go tad *** oak."]
    partials = [[word.text for word in event.words] for event in events if isinstance(event, Partial)]
    assert ["cat", "***"] in partials


def test_removed_words_show_in_no_event() -> None:
    events = events_of(WISHES[4], say("cat dog go 1.2 dog", 8000, before_s=0.3))
    assert "dog" not in repr(events)
    assert [final.raw_text for final in finals(events)] == ["cat go"]
    assert len([event for event in events if isinstance(event, TurnEnd)]) == 1  # of the second turn nothing is told


def test_tagged_words_stay_and_are_marked() -> None:
    words = [word for final in finals(events_of(WISHES[5])) for word in final.words]
    assert {word.text for word in words if word.filtered} == {"cat"}
    tokens = [token for final in finals(events_of(WISHES[5])) for token in final.tokens]
    assert {token.text for token in tokens if token.filtered} == {"Cat"}


def test_partials_of_a_filtered_stream_tell_nothing_twice() -> None:
    for wishes in WISHES:
        partials = [event for event in events_of(wishes) if isinstance(event, Partial)]
        assert all(a.words != b.words or a.segment != b.segment for a, b in pairwise(partials))


def test_alternatives_are_other_words_and_never_more_than_asked_for() -> None:
    [(first, *_), _] = [final.alternatives for final in finals(events_of(WISHES[2]))]
    assert first.text in ("Cat Dackott dog.", "Cat Dakot dog.")
    for wishes, most in ((WISHES[2], 3), (WISHES[5], 1), (WISHES[1], 0)):
        for final in finals(events_of(wishes)):
            others = [other.raw_text for other in final.alternatives]
            assert len(others) <= most
            assert len({final.raw_text, *others}) == len(others) + 1
