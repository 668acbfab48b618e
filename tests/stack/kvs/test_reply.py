"""Replies leave in real time, stop when the caller speaks, and outlive their connection; the clock is the test's."""

from __future__ import annotations

import pytest
from cloud.video.reply import Reply
from speech.errors import Transient
from speech.media.acks import Ack
from speech.media.events import Block, FragmentEnd
from speech.media.parser import Parser
from speech.media.writer import mulaw_track

from tests.stack.kvs import media

FRAME = 160  # bytes of 20 ms


class Clock:
    """Seconds since 1970, moved by hand."""

    def __init__(self) -> None:
        self.now_s = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now_s


class Line:
    """An upload that remembers when what was sent, and can break."""

    def __init__(self, clock: Clock) -> None:
        self.clock, self.over, self.broken, self.parser = clock, False, False, Parser()
        self.sent: list[tuple[float, Block | FragmentEnd]] = []

    def send(self, data: bytes) -> list[Ack]:
        assert not self.over
        if self.broken:
            raise Transient("broke off")
        told = [event for event in self.parser.receive(data) if isinstance(event, Block | FragmentEnd)]
        self.sent += [(self.clock.now_s - 1_700_000_000, event) for event in told]
        return []

    def finish(self, data: bytes = b"", wait_s: float = 5.0) -> list[Ack]:
        return self.send(data)

    @property
    def blocks(self) -> list[tuple[int, Block]]:
        """(ms when it was sent, block)."""
        return [(round(1000 * at), event) for at, event in self.sent if isinstance(event, Block)]


class Room:
    """A reply and the lines that it opens."""

    def __init__(self) -> None:
        self.clock, self.lines = Clock(), list[Line]()
        self.reply = Reply("replies", mulaw_track(1), clock=self.clock, open=self._open)

    def _open(self, stream: str, start_s: float) -> Line:
        self.lines.append(Line(self.clock))
        return self.lines[-1]

    def run(self, until_ms: int, step_ms: int = 10) -> None:
        """Let time pass."""
        while (now_ms := round(1000 * (self.clock.now_s - 1_700_000_000))) < until_ms:
            self.reply.step()
            self.clock.now_s = 1_700_000_000 + (now_ms + step_ms) / 1000
        self.reply.step()


def speech(ms: int) -> bytes:
    return bytes(at % 251 for at in range(8 * ms))


def test_frames_leave_when_they_are_due_and_not_before() -> None:
    room = Room()
    room.reply.say(speech(2000))
    room.reply.end()
    room.run(2100)
    [line] = room.lines
    assert b"".join(block.data for _, block in line.blocks) == speech(2000)
    early = [block.timecode_ms - at for at, block in line.blocks]
    assert max(early) <= room.reply.lead_ms
    assert min(early[4:]) > room.reply.lead_ms - 20
    assert [block.timecode_ms for _, block in line.blocks] == list(range(0, 2000, 20))
    # The end of the last fragment follows its last frame at once.
    ended = [at for at, event in line.sent if isinstance(event, FragmentEnd)]
    assert len(ended) == 2
    assert round(1000 * ended[-1]) == line.blocks[-1][0]


def test_the_first_frame_leaves_at_once_and_the_last_one_is_whole() -> None:
    room = Room()
    room.reply.say(speech(10))
    assert room.reply.step() is None  # half a frame waits for more
    assert not room.lines
    room.reply.end()
    room.reply.step()
    [(at_ms, block)] = room.lines[0].blocks
    assert at_ms == 0
    assert block.data == speech(10) + b"\xff" * 80


def test_the_time_to_wait_is_told() -> None:
    room = Room()
    room.reply.say(speech(1000))
    assert room.reply.step() == pytest.approx(
        0.02, abs=1e-4
    )  # four frames have left, and the fifth is due at 80 - 60 ms
    room.clock.now_s += 0.015
    assert room.reply.step() == pytest.approx(0.005, abs=1e-4)


@pytest.mark.parametrize("spoken_ms", [0, 130, 990])
def test_barge_in_stops_it_within_the_lead(spoken_ms: int) -> None:
    room = Room()
    room.reply.say(speech(3000))
    room.run(spoken_ms)
    heard_ms = room.reply.stop()
    assert heard_ms == spoken_ms
    room.run(4000)
    sent_ms = 20 * len(room.lines[0].blocks)
    assert spoken_ms <= sent_ms <= spoken_ms + room.reply.lead_ms + 20
    assert isinstance(room.lines[0].sent[-1][1], FragmentEnd)


def test_a_late_synthesizer_leaves_a_gap_and_no_hurry() -> None:
    room = Room()
    room.reply.say(speech(200))
    room.run(1000)
    room.reply.say(speech(200))
    room.reply.end()
    room.run(1500)
    times = [block.timecode_ms for _, block in room.lines[0].blocks]
    assert times == [*range(0, 200, 20), *range(1000, 1200, 20)]


def test_the_next_utterance_goes_out_on_the_same_upload_later() -> None:
    room = Room()
    for at_ms in (0, 12_000):
        room.run(at_ms)
        room.reply.say(speech(100))
        room.reply.end()
        room.run(at_ms + 200)
    [line] = room.lines
    assert [block.timecode_ms for _, block in line.blocks] == [*range(0, 100, 20), *range(12_000, 12_100, 20)]
    assert sum(isinstance(event, FragmentEnd) for _, event in line.sent) == 2


@pytest.mark.parametrize("breaks", [False, True])
def test_a_line_that_has_ended_is_replaced(breaks: bool) -> None:
    room = Room()
    room.reply.say(speech(500))
    room.run(100)
    if breaks:
        room.lines[0].broken = True
        room.clock.now_s += 0.02
        with pytest.raises(Transient, match="broke off"):
            room.reply.step()
    else:
        room.lines[0].over = True
    room.run(600)
    assert len(room.lines) == 2
    told = b"".join(block.data for line in room.lines for _, block in line.blocks)
    assert told == speech(500)


def test_the_upload_can_be_opened_before_there_is_anything_to_say() -> None:
    room = Room()
    room.reply.prepare()
    room.run(400)
    room.reply.prepare()
    room.reply.say(speech(100))
    room.reply.end()
    room.run(600)
    [line] = room.lines  # timecodes count from when it was opened
    assert [block.timecode_ms for _, block in line.blocks] == list(range(400, 500, 20))
    assert room.reply.sent_ms == 100
    assert room.reply.ahead_ms == 0


@pytest.mark.parametrize("noticed", [False, True])
def test_an_upload_that_the_service_has_ended_is_opened_anew_in_time(noticed: bool) -> None:
    room = Room()
    room.reply.prepare()
    room.lines[0].over, room.lines[0].broken = noticed, not noticed
    room.reply.prepare()
    assert len(room.lines) == 2
    room.reply.say(speech(20))
    room.reply.step()
    assert len(room.lines[1].blocks) == 1


def test_it_can_be_sent_elsewhere_from_now_on() -> None:
    room, other = Room(), Room()
    room.reply.say(speech(400))
    room.run(100)
    room.reply.redirect(other._open)
    room.reply.end()
    room.run(500)
    [before], [after] = room.lines, other.lines
    assert b"".join(block.data for line in (before, after) for _, block in line.blocks) == speech(400)


def test_a_reply_arrives_in_a_real_stream(stream: str) -> None:
    clock = Clock()
    reply = Reply(stream, mulaw_track(1, name="REPLY"), clock=clock)
    reply.say(speech(1500))
    reply.end()
    while (wait_s := reply.step()) is not None:
        clock.now_s += wait_s
    reply.close()
    assert reply.refusals == []
    events = media.get(stream, 2, StartSelectorType="EARLIEST")
    assert b"".join(block.data for block in media.blocks(events))[:12_000] == speech(1500)
    assert media.ends(events)[0].info.producer_timestamp == 1_700_000_000.0
