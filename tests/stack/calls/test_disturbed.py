"""Connections are cut, fragments come twice or out of order, the producer pauses: the words are the same."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from cloud.calls.call import Call, Leg
from cloud.calls.leases import LeaseTable
from cloud.calls.session import Session, step
from cloud.clients import client
from cloud.video.getmedia import Start
from cloud.video.putmedia import PutMedia
from speech.media.documents import FragmentWriter
from speech.media.events import Block, FragmentInfo
from speech.media.kvs import CallReader
from speech.media.writer import PutMediaWriter, l16_track
from speech.text.transcript import Transcript

from local.kvs.background import Background
from local.kvs.settings import Settings
from tests.stack.calls import talk
from tests.stack.calls.conftest import forget
from tests.stack.calls.test_session import CALL, TRANSCRIPT
from tests.stack.calls.test_worker import Crew, right

PAUSE_MS = 25_000


@pytest.fixture
def crew(leases: LeaseTable) -> Iterator[Crew]:
    made = Crew(leases)
    yield made
    for worker in made.all:
        worker.feed.close()


@contextmanager
def endpoint(folder: Path, let: Callable[[], int | None]) -> Iterator[None]:
    """Another endpoint of video streams, in use meanwhile, whose connections let so many bytes through."""
    settings = Settings(calls_per_s=0, readers=99, get_media_bytes=let)
    with Background(folder / "kvs", settings) as kvs, pytest.MonkeyPatch.context() as changed:
        changed.setenv("AWS_ENDPOINT_URL_KINESIS_VIDEO", kvs.url)
        changed.setenv("AWS_CA_BUNDLE", kvs.ca)
        forget()
        yield
    forget()


def test_connections_that_are_cut_at_random_lose_nothing(crew: Crew, tmp_path: Path) -> None:
    chance, cuts = random.Random(7), list[int]()

    def some() -> int:
        cuts.append(chance.randrange(1, 60_000))
        return cuts[-1]

    with endpoint(tmp_path, some):
        call, worker = crew.add(), crew.hire()
        crew.finish(worker, call)
        worker.feed.close()
    assert right(crew, call)
    assert len(cuts) > 5


def documents(blocks: list[Block]) -> list[bytes]:
    """A document for each second, as GetMedia gives them."""
    seconds = sorted({block.timecode_ms // 1000 for block in blocks})
    found = []
    for index, second in enumerate(seconds):
        part = [block for block in blocks if block.timecode_ms // 1000 == second]
        start_ms, number = part[0].timecode_ms, f"{index + 1:047d}"
        at_s = talk.BEGAN_S + start_ms / 1000
        writer = FragmentWriter(talk.TRACKS, FragmentInfo(number, at_s, at_s, 0, number))
        found.append(writer.whole(part, start_ms, talk.TAGS))
    return found


def transcript(parts: list[bytes], reorder: int = 0) -> Transcript:
    """What a session makes of documents in this order."""
    session, reader = Session.begin(CALL, talk.RECOGNIZER), CallReader(reorder=reorder)
    for part in parts:
        session.take(reader.receive(part), reader.position)
        step([session])
    session.take(reader.finish(), reader.position)
    step([session])
    session.finish()
    return session.transcript()


def twice(parts: list[bytes]) -> list[bytes]:
    return [part for part in parts for _ in range(2)]


def again_from_some_way_back(parts: list[bytes]) -> list[bytes]:
    return parts[:6] + parts[2:8] + parts[5:]


@pytest.mark.parametrize("disturb", [twice, again_from_some_way_back])
def test_fragments_that_come_twice_are_heard_once(disturb: Callable[[list[bytes]], list[bytes]]) -> None:
    parts = documents(talk.blocks())
    assert transcript(disturb(parts)) == transcript(parts)


@pytest.mark.parametrize("seed", range(3))
def test_fragments_out_of_order_are_put_in_order(seed: int) -> None:
    parts, chance = documents(talk.blocks()), random.Random(seed)
    mixed = parts[:1]
    for at in range(1, len(parts), 3):  # each three in any order, and some of them again
        three = parts[at : at + 3]
        mixed += chance.sample(three, len(three)) + chance.sample(three, 1)
    assert mixed != parts
    assert transcript(mixed, reorder=3) == transcript(parts)


def test_a_pause_of_the_producer_is_a_pause_of_the_call(crew: Crew, tmp_path: Path) -> None:
    """The connection falls silent, is given up and opened again; then the producer goes on, 25 s later by its clock."""
    blocks = talk.blocks()
    half = blocks[len(blocks) // 2].timecode_ms
    before = [block for block in blocks if block.timecode_ms < half]
    behind = [replace(b, timecode_ms=b.timecode_ms + PAUSE_MS) for b in blocks if b.timecode_ms >= half]
    crew.settings = replace(crew.settings, patience=replace(crew.settings.patience, silence_s=0.05))
    opened = list[None]()

    def counted() -> None:
        opened.append(None)

    with endpoint(tmp_path, counted):
        name, worker, writer = "pause", crew.hire(), PutMediaWriter(talk.TRACKS)
        client("kinesisvideo").create_stream(StreamName=name, DataRetentionInHours=1)
        upload = PutMedia.open(name, start_s=talk.BEGAN_S)
        crew.leases.add(Call(name, name, Start("PRODUCER_TIMESTAMP", timestamp_s=talk.BEGAN_S)), crew.now_s)
        upload.send(b"".join(writer.block(b.track, b.timecode_ms, b.data, talk.TAGS) for b in before))
        while len(opened) < 4 or not crew.book.told:
            worker.turn()
        upload.send(b"".join(writer.block(b.track, b.timecode_ms, b.data, talk.TAGS) for b in behind))
        later = behind[-1].timecode_ms + 1000
        last = writer.begin(later, talk.TAGS)
        last += b"".join(writer.block(track.number, later, bytes(1024)) for track in talk.TRACKS)
        upload.finish(last + writer.finish({"ContactId": "another"}))
        crew.finish(worker, name)
        worker.feed.close()
    assert crew.book.ends[name] == (transcript(documents(before + behind)), "contact")


def test_the_two_streams_of_a_call_are_one_transcript(crew: Crew) -> None:
    """Chime's: a stream a side; the second one is heard of when the call is in work, and events tell of their ends."""
    legs, last = [], dict[str, str]()
    for track, speaker in zip(talk.TRACKS, ("customer", "agent"), strict=True):
        stream, alone = f"side-{speaker}", l16_track(1, "Track_audio/L16")
        client("kinesisvideo").create_stream(StreamName=stream, DataRetentionInHours=1)
        writer, upload = PutMediaWriter([alone]), PutMedia.open(stream, start_s=talk.BEGAN_S)
        blocks = [block for block in talk.blocks() if block.track == track.number]
        parts = [writer.block(1, block.timecode_ms, block.data) for block in blocks]
        acks = upload.finish(b"".join(parts) + writer.finish())
        last[stream] = max(ack.fragment for ack in acks if ack.fragment)
        start = Start("PRODUCER_TIMESTAMP", timestamp_s=talk.BEGAN_S)
        legs.append(Leg(stream, start, "audio/L16;rate=8000;channels=1;", speaker))
    call = Call("sides", legs[0].stream, legs[0].start, mime_type=legs[0].mime_type, speaker=legs[0].speaker)
    crew.leases.add(call, crew.now_s)
    worker = crew.hire()
    while not crew.book.told:
        worker.turn()
    crew.leases.change(call.id, lambda known: known.with_leg(legs[1]))
    for stream, number in last.items():
        crew.leases.change(call.id, lambda known, of=(stream, number): known.with_end(*of))  # type: ignore[misc]
    crew.finish(worker, call.id)
    heard, reason = crew.book.ends[call.id]
    assert reason == "stopped"
    assert heard.speakers == ("customer", "agent")
    assert heard.channels == TRANSCRIPT.channels
