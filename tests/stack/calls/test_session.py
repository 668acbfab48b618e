"""A call's tracks become words in the call's clock; put down at any block and taken up, they become the same words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from cloud.calls.call import Call
from cloud.calls.checkpoint import Checkpoint
from cloud.calls.session import Session, step
from cloud.calls.track import Track
from cloud.live.told import Teller
from cloud.video.getmedia import Start
from hypothesis import given, settings
from hypothesis import strategies as st
from speech.audio import pcm
from speech.errors import BadSnapshot
from speech.media.call_events import Position
from speech.media.formats import AudioFormat
from speech.text.transcript import Transcript

from tests.stack.calls import talk
from tests.tiny.sound import say, word_s

CALL = Call("call", "stream", Start("EARLIEST"))
DATA = talk.download()
Records = list[dict[str, Any]]


def lasting(records: Records) -> Records:
    """Those that are no partials."""
    return [record for record in records if record["type"] != "partial"]


def heard(size: int, session: Session | None = None) -> tuple[Transcript, Records]:
    """Transcript and records of the whole call in pieces of so many bytes."""
    session, told = session or Session.begin(CALL, talk.RECOGNIZER), []
    for events, position in talk.batches(DATA, size):
        session.take(events, position)
        told += step([session]).get("call", [])
    return session.transcript(), lasting(told + session.finish())


TRANSCRIPT, RECORDS = heard(len(DATA))


def test_both_sides_are_heard_with_speaker_and_time() -> None:
    session = Session.begin(CALL, talk.RECOGNIZER)
    for events, position in talk.batches(DATA, 4096):
        session.take(events, position)
    records = step([session])["call"] + session.finish()
    finals = [record for record in records if record["type"] == "final"]
    said = {
        who: [w["text"] for f in finals if f["speaker"] == who for w in f["words"]] for who in ("customer", "agent")
    }
    assert {who: " ".join(words) for who, words in said.items()} == {
        "customer": "cat dog go tad two oak gag cat",
        "agent": "dog dog tad two oak",
    }
    first = finals[0]["words"][0]
    assert abs(first["start_s"] - 0.4) < 0.1
    transcript = session.transcript()
    assert [[word.text for final in channel for word in final.words] for channel in transcript.channels] == [
        *said.values()
    ]
    assert transcript.duration_s == pytest.approx(len(talk.voices()[0]) / 16_000)


@pytest.mark.parametrize("size", [100, 1024, 30_000])
def test_any_pieces_give_the_same(size: int) -> None:
    transcript, records = heard(size)
    assert transcript == TRANSCRIPT
    by_channel = [[r for r in told if r["channel"] == 1] for told in (records, RECORDS)]
    assert by_channel[0] == by_channel[1]


@settings(max_examples=7, deadline=None)
@given(st.lists(st.integers(1, len(DATA) - 1), min_size=1, max_size=3), st.integers(500, 5000))
def test_killed_at_any_points_and_taken_up_from_the_last_checkpoint(kills: list[int], size: int) -> None:
    """A worker saves now and then, dies later, and the next one hears again what came between."""
    saved, told = Session.begin(CALL, talk.RECOGNIZER).checkpoint().to_bytes(), Records()
    for death in [*sorted(kills), None]:
        checkpoint = Checkpoint.from_bytes(saved)
        session = Session.resume(CALL, talk.RECOGNIZER, checkpoint)
        offset = 0  # the service gives what it keeps from its beginning; the reader leaves out what was heard
        for turn, (events, position) in enumerate(talk.batches(DATA, size, checkpoint.positions.get(0))):
            offset += size
            if death is not None and offset > death:
                break
            session.take(events, position)
            told += step([session]).get("call", [])
            if turn % 5 == 4:
                saved = session.checkpoint().to_bytes()
    told += session.finish()
    assert session.transcript() == TRANSCRIPT
    # What was told twice was told the same, under the same number, and nothing is missing.
    numbered: dict[tuple[int, int], dict[str, Any]] = {}
    for record in lasting(told):
        assert numbered.setdefault((record["channel"], record["number"]), record) == record
    assert numbered == {(record["channel"], record["number"]): record for record in RECORDS}


def test_many_calls_in_one_step_are_as_each_alone() -> None:
    sessions = [Session.begin(replace(CALL, id=str(n)), talk.RECOGNIZER) for n in range(4)]
    readers = [talk.batches(DATA, 900 + 700 * n) for n in range(4)]
    told: dict[str, Records] = {session.call.id: [] for session in sessions}
    live = dict(zip(told, readers, strict=True))
    while live:
        for session in sessions:
            if session.call.id in live:
                found = next(live[session.call.id], None)
                if found is None:
                    del live[session.call.id]
                else:
                    session.take(*found)
        for call, records in step(sessions).items():
            told[call] += records
    for session in sessions:
        told[session.call.id] += session.finish()
        assert session.transcript() == TRANSCRIPT


def test_a_checkpoint_is_small_and_a_foreign_one_is_refused() -> None:
    session = Session.begin(CALL, talk.RECOGNIZER)
    for events, position in list(talk.batches(DATA, 4096))[:20]:
        session.take(events, position)
    step([session])
    checkpoint = session.checkpoint()
    packed = checkpoint.to_bytes()
    assert Checkpoint.from_bytes(packed) == checkpoint
    assert checkpoint.contact_id == "c"
    for damaged in (b"", packed[:-9], b"{}", packed[10:]):
        with pytest.raises(BadSnapshot):
            Checkpoint.from_bytes(damaged)


def test_a_call_survives_the_table() -> None:
    call = Call("id", "arn:aws:kinesisvideo:x", Start("PRODUCER_TIMESTAMP", timestamp_s=1.5), "contact", "audio/L16")
    assert Call.from_json(call.to_json()) == call


class Ear:
    """One track by itself, heard in blocks."""

    def __init__(self) -> None:
        self.track = Track(0, "customer", AudioFormat("pcm_s16le", 8000), Teller(0))
        self.session = Session(CALL, talk.RECOGNIZER, tracks={1: self.track})

    def hear(self, text: str, at_ms: float, stated_drift: float = 0.0) -> None:
        """Speech in blocks of 20 ms; their stated times run away by `stated_drift` of their duration."""
        data = pcm.encode(say(text, 8000), "pcm_s16le")
        for index, at in enumerate(range(0, len(data), 320)):
            self.track.hear(round(at_ms + 20 * index * (1 + stated_drift)), data[at : at + 320])

    def words(self) -> list[tuple[str, float]]:
        step([self.session])
        self.session.finish()
        return [(word.text, word.start_s) for final in self.track.finals for word in final.words]


def close(found: list[tuple[str, float]], expected: list[tuple[str, float]]) -> bool:
    return [w for w, _ in found] == [w for w, _ in expected] and bool(
        np.allclose([t for _, t in found], [t for _, t in expected], atol=0.1)
    )


@pytest.mark.parametrize("gap_ms", [700, 25_000, 45_000, 3_600_000])
def test_a_gap_of_any_length_keeps_words_in_the_calls_clock(gap_ms: int) -> None:
    ear = Ear()
    ear.hear("0.3 cat 0.6", 0)
    ends_ms = ear.track.end_ms or 0.0
    ear.hear("0.3 dog 1.0", ends_ms + gap_ms)
    assert close(ear.words(), [("cat", 0.3), ("dog", ends_ms / 1000 + gap_ms / 1000 + 0.3)])
    assert [final.segment for final in ear.track.finals] == [0, 1]


def test_a_clock_set_back_begins_anew_and_loses_nothing() -> None:
    ear = Ear()
    ear.hear("0.3 cat 1.0", 100_000)
    ear.hear("0.3 dog 1.0", 5_000)
    assert close(ear.words(), [("cat", 100.3), ("dog", 5.3)])


@pytest.mark.parametrize("drift", [3e-3, -3e-3])
def test_words_follow_the_stated_times_and_not_the_count_of_samples(drift: float) -> None:
    ear = Ear()
    ear.hear("0.3 cat 20.0 dog 1.0", 0, drift)
    (_, cat_s), (_, dog_s) = ear.words()
    apart_s = word_s("cat") + 0.16 + 20.0
    assert abs(dog_s - cat_s - apart_s * (1 + drift)) < 0.045  # 60 ms by samples


def test_a_new_format_in_the_middle() -> None:
    ear = Ear()
    ear.hear("0.3 cat 1.0", 0)
    ends_ms = ear.track.end_ms or 0.0
    ear.track.change_format(AudioFormat("pcm_mulaw", 16_000))
    ear.track.hear(ends_ms, pcm.encode(say("0.3 dog 1.0", 16_000), "pcm_mulaw"))
    assert close(ear.words(), [("cat", 0.3), ("dog", ends_ms / 1000 + 0.3)])


def test_a_track_that_needs_a_decoder_is_said_and_the_other_is_heard() -> None:
    from speech.media.call_events import Audio, AudioTrack
    from speech.media.events import Track as Declared

    session = Session.begin(CALL, talk.RECOGNIZER)
    aac = AudioTrack(Declared(1, "A_AAC"), "unknown", None, "real AAC; it needs a decoder")
    good = AudioTrack(Declared(2, "A_MS/ACM"), "agent", AudioFormat("pcm_s16le", 8000))
    sound = pcm.encode(say("0.3 cat 1.0", 8000), "pcm_s16le")
    session.take([aac, good, Audio(1, 1000, b"\0" * 99, "1"), Audio(2, 1000, sound, "1")], Position())
    step([session])
    session.finish()
    transcript = session.transcript()
    assert [word.text for word in transcript.words()] == ["cat"]
    assert transcript.warnings == ("track 1 was not heard: real AAC; it needs a decoder",)
