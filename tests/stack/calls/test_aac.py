"""Calls in AAC, as producers other than Connect and Chime send them: heard, put down, taken up; or refused in words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from cloud.calls.call import Call
from cloud.calls.checkpoint import Checkpoint
from cloud.calls.leases import LeaseTable
from cloud.calls.session import Session, step
from cloud.clients import client
from cloud.video.getmedia import Start
from cloud.video.putmedia import PutMedia
from speech.errors import BadSnapshot
from speech.media import sound
from speech.media.documents import FragmentWriter
from speech.media.events import Block, FragmentInfo
from speech.media.writer import PutMediaWriter
from speech.text.transcript import Transcript

from tests.stack.calls import talk
from tests.stack.calls.test_session import CALL, Records, lasting
from tests.stack.calls.test_worker import Crew
from tests.tiny.sound import say, word_s
from tests.unit.media.aac import FRAME, encoded

SAID, RATE = "0.4 cat dog 1.0 go tad 1.2", 16_000
MADE = encoded(say(SAID, RATE), RATE, name="microphone")
BLOCKS = [Block(1, MADE.at_ms(index), frame) for index, frame in enumerate(MADE.frames)]
DELAY_S = FRAME / RATE  # the encoder's frame before the first sample


def download() -> bytes:
    """The call as GetMedia gives it, a document for each 12 frames."""
    out = []
    for index, at in enumerate(range(0, len(BLOCKS), 12)):
        part, number = BLOCKS[at : at + 12], f"{index + 1:047d}"
        at_s = talk.BEGAN_S + part[0].timecode_ms / 1000
        writer = FragmentWriter((MADE.track,), FragmentInfo(number, at_s, at_s, 0, number))
        out.append(writer.whole(part, part[0].timecode_ms))
    return b"".join(out)


DATA = download()


def heard() -> tuple[Transcript, Records]:
    session, told = Session.begin(CALL, talk.RECOGNIZER), Records()
    for events, position in talk.batches(DATA, 777):
        session.take(events, position)
        told += step([session]).get("call", [])
    return session.transcript(), lasting(told + session.finish())


def test_words_are_heard_where_they_were_said() -> None:
    transcript, _ = heard()
    words = list(transcript.words())
    assert [word.text for word in words] == ["cat", "dog", "go", "tad"]
    go_s = 0.4 + word_s("cat") + word_s("dog") + 2 * 0.16 + 1.0
    assert [words[0].start_s, words[2].start_s] == pytest.approx([0.4 + DELAY_S, go_s + DELAY_S], abs=0.1)
    assert transcript.warnings == ()


@pytest.mark.parametrize("cut", [4, 9, 15])
def test_put_down_in_the_middle_of_a_fragment_no_word_is_lost_or_doubled(cut: int) -> None:
    expected, records = heard()
    first, told = Session.begin(CALL, talk.RECOGNIZER), Records()
    batches = list(talk.batches(DATA, 777))
    for events, position in batches[:cut]:
        first.take(events, position)
        told += step([first]).get("call", [])
    checkpoint = Checkpoint.from_bytes(first.checkpoint().to_bytes())
    [track] = checkpoint.tracks.values()
    assert len(track.primer) == sound.PRIMER
    second = Session.resume(CALL, talk.RECOGNIZER, checkpoint)
    for events, position in talk.batches(DATA, 1000, checkpoint.positions[0]):
        second.take(events, position)
        told += step([second]).get("call", [])
    told += second.finish()
    assert second.transcript() == expected
    assert lasting(told) == records


def test_a_worker_without_ffmpeg_says_so_and_hears_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    saved = Session.begin(CALL, talk.RECOGNIZER)
    for events, position in talk.batches(DATA, len(DATA)):
        saved.take(events, position)
    step([saved])
    checkpoint = saved.checkpoint()
    monkeypatch.setattr(sound, "find_spec", lambda name: None)
    session = Session.begin(CALL, talk.RECOGNIZER)
    for events, position in talk.batches(DATA, 4096):
        session.take(events, position)
    assert step([session]) == {}
    [warning] = session.transcript().warnings
    assert warning == (
        "track 1 was not heard: AAC of 16000 Hz needs FFmpeg (the package av), which is not installed here"
    )
    with pytest.raises(BadSnapshot, match="needs FFmpeg"):
        Session.resume(CALL, talk.RECOGNIZER, checkpoint)


def test_what_was_heard_of_a_track_stays_when_the_rest_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    expected, _ = heard()
    session = Session.begin(CALL, talk.RECOGNIZER)
    for events, position in talk.batches(DATA, 4096):
        session.take(events, position)
    step([session])
    session.finish()
    [declared] = [e for events, _ in talk.batches(DATA, len(DATA)) for e in events if type(e).__name__ == "AudioTrack"]
    session.take([replace(declared, format=None, reason="its blocks are encrypted")], session.positions[0])
    assert session.transcript().channels == expected.channels
    assert session.transcript().warnings == ("track 1 was not heard: its blocks are encrypted",)


def test_a_real_stream_whose_worker_dies(leases: LeaseTable) -> None:
    """From PutMedia over GetMedia; the worker dies behind each of the first things that it tells."""
    name, writer, crew = "aac", PutMediaWriter([MADE.track]), Crew(leases)
    client("kinesisvideo").create_stream(StreamName=name, DataRetentionInHours=1)
    tags = {"ContactId": name}
    parts = [writer.block(block.track, block.timecode_ms, block.data, tags) for block in BLOCKS]
    later = BLOCKS[-1].timecode_ms + 1000
    parts += [writer.begin(later, tags), writer.block(1, later, MADE.frames[0])]
    PutMedia.open(name, start_s=talk.BEGAN_S).finish(b"".join(parts) + writer.finish({"ContactId": "another"}))
    leases.add(Call(name, name, Start("PRODUCER_TIMESTAMP", timestamp_s=talk.BEGAN_S)), crew.now_s)
    deaths = iter([True, False, True])
    crew.book.dies = lambda: next(deaths, False)
    crew.settings = replace(crew.settings, turn_bytes=1000)
    crew.finish_among_deaths(name)
    transcript, reason = crew.book.ends[name]
    assert (len(crew.all), reason) == (3, "contact")
    assert transcript.channels == heard()[0].channels
    assert np.isclose(transcript.duration_s, heard()[0].duration_s)
