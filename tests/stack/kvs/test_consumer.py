"""The consumer: every block once and in order, whatever happens to its connections; and every way a call can end."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from itertools import chain, count

import boto3
import pytest
from cloud.video import endpoints
from cloud.video.consumer import CallEnded, Connected, Consumer, ConsumerEvent, Disconnected, Patience
from cloud.video.getmedia import Connection, Silent, Start
from cloud.video.putmedia import PutMedia
from speech.errors import Transient
from speech.media.call_events import Audio, AudioTrack, Dropped, FragmentDone, Gap, Position
from speech.media.documents import error_document
from speech.media.formats import AudioFormat
from speech.media.writer import PutMediaWriter, l16_track

from local.kvs.background import Background
from local.kvs.settings import Settings
from tests.stack.kvs import media
from tests.stack.kvs.conftest import create

FROM_START = Start("PRODUCER_TIMESTAMP", timestamp_s=media.BEGAN_S)
QUICK = Patience(retry_s=0.0, silence_s=5.0)
Heard = list[tuple[int, int, bytes]]


def heard(events: list[ConsumerEvent]) -> Heard:
    """(track, ms of the call, data) of the audio among events."""
    return [(e.track, e.at_ms - round(1000 * media.BEGAN_S), e.data) for e in events if isinstance(e, Audio)]


def expected(first_ms: int, end_ms: int) -> Heard:
    return [(block.track, block.timecode_ms, block.data) for block in media.sent(first_ms, end_ms)]


def until_heard(consumer: Consumer, blocks: int) -> list[ConsumerEvent]:
    """Events until so many blocks were heard and the fragment of the last one is over, then stop."""
    events: list[ConsumerEvent] = []
    for event in consumer.events():
        events.append(event)
        if isinstance(event, FragmentDone) and len(heard(events)) >= blocks:
            consumer.stop()
    assert events[-1] == CallEnded("stopped")
    return events


def test_a_call_is_heard_from_its_first_block_by_track(stream: str) -> None:
    media.put(stream, 0, 3000)
    events = until_heard(Consumer(stream, FROM_START, patience=QUICK), 60)
    assert heard(events) == expected(0, 3000)
    tracks = [event for event in events if isinstance(event, AudioTrack)]
    assert [(track.speaker, track.format) for track in tracks] == [
        ("customer", AudioFormat("pcm_s16le", 8000)),
        ("agent", AudioFormat("pcm_s16le", 8000)),
    ]


@pytest.mark.parametrize("seed", range(3))
def test_cuts_at_any_byte_lose_nothing_and_repeat_nothing(start: Callable[..., Background], seed: int) -> None:
    cuts = random.Random(seed)
    start(Settings(calls_per_s=0, readers=99, get_media_bytes=lambda: cuts.randrange(1, 70_000)))
    stream = create()
    media.put(stream, 0, 8000)
    events = until_heard(Consumer(stream, FROM_START, patience=QUICK), 160)
    assert heard(events) == expected(0, 8000)
    assert sum(isinstance(event, Connected) for event in events) > 4
    assert not [event for event in events if isinstance(event, Gap)]


def test_a_connection_is_renewed_between_fragments(stream: str) -> None:
    media.put(stream, 0, 4000)
    events = until_heard(Consumer(stream, FROM_START, patience=Patience(rotate_s=-1.0)), 80)
    assert heard(events) == expected(0, 4000)
    reasons = [event.reason for event in events if isinstance(event, Disconnected)]
    assert reasons == ["its time was over"] * 4
    assert not [event for event in events if isinstance(event, Dropped)]


def test_a_connection_is_renewed_in_a_fragment_that_does_not_end(stream: str) -> None:
    upload, parts = PutMedia.open(stream, start_s=media.BEGAN_S), media.document(0, 1000)
    upload.send(b"".join(parts[:6]))
    events, now_s = list[ConsumerEvent](), 0.0
    patience = Patience(idle_s=1e9)
    consumer = Consumer(stream, FROM_START, patience=patience, clock=lambda: now_s)
    for event in consumer.events():
        events.append(event)
        if len(heard(events)) == 6:
            now_s = patience.rotate_s + patience.overdue_s + 1
        if isinstance(event, Disconnected) and not upload.over:
            upload.finish(b"".join(parts[6:]))
        if len(heard(events)) == 20:
            consumer.stop()
    assert heard(events) == expected(0, 1000)
    assert next(event.reason for event in events if isinstance(event, Disconnected)) == "its time was over"


def test_a_new_consumer_goes_on_from_a_checkpoint_in_the_middle_of_a_fragment(stream: str) -> None:
    upload, parts = PutMedia.open(stream, start_s=media.BEGAN_S), media.document(0, 4000)
    upload.send(b"".join(parts[:27]))
    first, events = Consumer(stream, FROM_START), list[ConsumerEvent]()
    for batch in first.batches():
        events += batch
        if len(heard(events)) == 27:
            break
    upload.finish(b"".join(parts[27:]))
    rest = until_heard(Consumer(stream, FROM_START, after=first.position), 53)
    assert heard(events + rest) == expected(0, 4000)


def test_a_pause_of_the_producer_is_not_the_end(stream: str) -> None:
    media.put(stream, 0, 1000)
    consumer, events = Consumer(stream, FROM_START, patience=Patience(silence_s=0.1)), list[ConsumerEvent]()
    for event in consumer.events():
        events.append(event)
        if isinstance(event, Disconnected) and len(heard(events)) == 20:
            media.put(stream, 26_000, 27_000)
        if len(heard(events)) == 40:
            consumer.stop()
    assert heard(events) == expected(0, 1000) + expected(26_000, 27_000)
    gaps = {(gap.track, gap.to_ms - gap.from_ms) for gap in events if isinstance(gap, Gap)}
    assert gaps == {(1, 25_000), (2, 25_000)}


def test_nothing_is_missed_between_two_connections_that_began_now(stream: str) -> None:
    consumer, events = Consumer(stream, Start("NOW"), patience=Patience(silence_s=0.1)), list[ConsumerEvent]()
    for event in consumer.events():
        events.append(event)
        if isinstance(event, Disconnected) and not heard(events):
            media.put(stream, 0, 2000)  # whole before the next connection is there
        if len(heard(events)) == 40:
            consumer.stop()
    assert heard(events) == expected(0, 2000)


def test_a_fragment_that_is_no_longer_kept_is_gone_on_behind_by_the_clock(stream: str) -> None:
    media.put(stream, 0, 3000)
    began_ms = round(1000 * media.BEGAN_S)
    position = Position("7", {1: began_ms + 1400, 2: began_ms + 1400}, began_ms)
    events = until_heard(Consumer(stream, FROM_START, after=position, patience=QUICK), 30)
    assert heard(events) == expected(1500, 3000)
    starts = [event.start.kind for event in events if isinstance(event, Connected)]
    assert starts == ["FRAGMENT_NUMBER", "PRODUCER_TIMESTAMP"]


def test_the_call_ends_when_the_stream_carries_another(stream: str) -> None:
    writer, parts = PutMediaWriter([l16_track(1, "AUDIO_FROM_CUSTOMER")]), list[bytes]()
    for at in range(0, 4000, media.STEP_MS):
        contact = "mine" if at <= 2000 else "another"  # tags come behind the fragment that they are of
        parts.append(writer.block(1, at, media.sound(1, at), {"ContactId": contact}))
    PutMedia.open(stream, start_s=media.BEGAN_S).finish(b"".join(parts) + writer.finish({"ContactId": "another"}))
    events = list(Consumer(stream, FROM_START, contact_id="mine").events())
    assert events[-1] == CallEnded("contact")
    assert [at for _, at, _ in heard(events)][-1] >= 1900


def test_the_call_ends_when_nothing_comes_for_long(stream: str) -> None:
    media.put(stream, 0, 1000)
    clock = count(0, 10)
    consumer = Consumer(stream, FROM_START, patience=Patience(silence_s=0.1, idle_s=300), clock=lambda: next(clock))
    events = list(consumer.events())
    assert events[-1] == CallEnded("idle")
    assert heard(events) == expected(0, 1000)


def test_the_call_ends_with_the_stream(stream: str) -> None:
    media.put(stream, 0, 1000)
    events: list[ConsumerEvent] = []
    client = boto3.client("kinesisvideo")
    for event in Consumer(stream, FROM_START).events():
        events.append(event)
        if isinstance(event, FragmentDone):
            client.delete_stream(StreamARN=client.describe_stream(StreamName=stream)["StreamInfo"]["StreamARN"])
    assert events[-1] == CallEnded("deleted")


def test_it_stops_at_once_when_another_thread_says_so(stream: str) -> None:
    consumer, connected = Consumer(stream, FROM_START, patience=Patience(silence_s=60)), threading.Event()
    events: list[ConsumerEvent] = []

    def read() -> None:
        for event in consumer.events():
            events.append(event)
            connected.set()

    thread = threading.Thread(target=read)
    thread.start()
    assert connected.wait(60)
    consumer.stop()
    thread.join(60)
    assert not thread.is_alive()
    assert events[-1] == CallEnded("stopped")


def test_no_stream_is_an_error_and_not_a_long_wait(kvs: Background) -> None:
    with pytest.raises(endpoints.NoStream, match="nobody"):
        list(Consumer("nobody", FROM_START).events())


class Script:
    """Connections that do what a test says: bytes, errors; then silence."""

    def __init__(self, *answers: list[bytes | Exception]) -> None:
        self._answers: Iterator[list[bytes | Exception]] = chain(answers)
        self.starts: list[Start] = []

    def open(self, stream: str, start: Start, silence_s: float) -> Script:
        self.starts.append(start)
        self._parts = iter(next(self._answers, [Silent("nothing")]))
        return self

    def read(self) -> bytes:
        part = next(self._parts, b"")
        if isinstance(part, Exception):
            raise part
        return part

    def interrupt(self) -> None: ...

    def close(self) -> None: ...


def test_a_key_that_may_not_be_used_is_named() -> None:
    script = Script([error_document("KMS_KEY_ACCESS_DENIED", 4500)])
    with pytest.raises(endpoints.Forbidden, match="kms:Decrypt"):
        list(Consumer("s", FROM_START, connect=script.open).events())


def test_broken_connections_are_tried_again() -> None:
    script = Script([Transient("broke off")], [Transient("broke off")], [b""])
    clock = count()
    patience = Patience(retry_s=0.0, idle_s=30)
    events = list(Consumer("s", FROM_START, connect=script.open, patience=patience, clock=lambda: next(clock)).events())
    assert [event.reason for event in events if isinstance(event, Disconnected)][:3] == [
        "broke off",
        "broke off",
        "the service has ended it",
    ]
    assert set(script.starts) == {FROM_START}
    assert events[-1] == CallEnded("idle")


def test_a_connection_says_what_is_wrong_with_it(kvs: Background, stream: str) -> None:
    with pytest.raises(Silent):
        Connection.open(stream, Start("NOW"), 0.1).read()
    open_one = Connection.open(stream, Start("NOW"), 5.0)
    kvs.call(lambda: None)
    open_one.interrupt()
    with pytest.raises(Transient, match="broke off"):
        assert open_one.read() == b"never"
