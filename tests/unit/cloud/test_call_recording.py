"""A call's recording out of what its streams keep: each side in its place, gaps as silence; what is missing is said.

Only the archive and the bucket are stand-ins; that they are as the services are is seen in tests/stack/calls.
"""

from __future__ import annotations

import io
import tracemalloc
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
import soundfile
from cloud.calls import recording
from cloud.calls.recording import Stopped, Unrecorded, write
from cloud.calls.sides import LEFT, RIGHT, Plan, Side
from cloud.video import archive
from cloud.video.archive import Kept
from speech.audio import pcm
from speech.audio.files import open_audio
from speech.errors import Transient
from speech.media import events
from speech.media.documents import FragmentWriter, exception_document
from speech.media.events import Block, FragmentInfo
from speech.media.writer import l16_track, mulaw_track

from tests.unit.media.aac import FRAME, encoded

ORIGIN_MS, RATE = 1_700_000_000_250, 8000
TAGS = {"ContactId": "c", "MimeType": "audio/L16;rate=8000;channels=1;"}


@dataclass
class Shelf:
    """What streams keep."""

    documents: dict[str, dict[str, tuple[Kept, bytes]]] = field(default_factory=dict)  # by stream and number
    hours: int = 24
    troubles: int = 0  # requests that fail for the moment
    hidden: int = 0  # looks at which the last fragment is not listed yet
    fetches: int = 0

    def keep(self, stream: str, number: int, at_ms: int, tracks: tuple[events.Track, ...], blocks: list[Block],
             tags: dict[str, str] | None = None) -> None:  # fmt: skip
        name, at_s = f"{number:047d}", at_ms / 1000
        data = FragmentWriter(tracks, FragmentInfo(name, at_s, at_s), True).whole(blocks, blocks[0].timecode_ms, tags)
        self.documents.setdefault(stream, {})[name] = Kept(name, at_ms, len(data)), data

    def retention_hours(self, stream: str) -> int:
        return self.hours

    def listed(self, stream: str, from_ms: int, to_ms: int) -> list[Kept]:
        if self.troubles:
            self.troubles -= 1
            raise Transient("not now")
        found = [kept for kept, _ in self.documents[stream].values() if from_ms <= kept.at_ms <= to_ms]
        if self.hidden:
            self.hidden -= 1
            return found[:-1]
        return found

    def fetched(self, stream: str, piece: list[Kept]) -> bytes:
        self.fetches += 1
        shelf = self.documents[stream]
        # As the service may: in another order.
        wanted = sorted((kept.number for kept in piece), key=lambda number: number[::-1])
        return b"".join(shelf[n][1] if n in shelf else exception_document(n, 4000, "gone") for n in wanted)


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch) -> Shelf:
    made = Shelf()
    for name in ("retention_hours", "listed", "fetched"):
        monkeypatch.setattr(archive, name, getattr(made, name))
    monkeypatch.setattr(recording, "AGAIN_S", (0.0, 0.0, 0.0))
    return made


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder instead; an upload that is given up leaves nothing."""

    class Writer(io.FileIO):
        def __init__(self, name: str, key: str, content_type: str) -> None:
            assert content_type == "audio/flac"
            self.path = tmp_path / key
            super().__init__(self.path, "w")

        def __exit__(self, kind: Any, *more: Any) -> None:
            super().__exit__(kind, *more)
            if kind:
                self.path.unlink()

    monkeypatch.setattr(recording, "S3Writer", Writer)
    return tmp_path


def noise(seconds: float, seed: int) -> np.ndarray:
    found = np.random.default_rng(seed).integers(-9000, 9000, round(seconds * RATE))
    return (found / 32768).astype(np.float32)


def talk(shelf: Shelf, seconds: int, gap_s: float = 0.0) -> list[np.ndarray]:
    """A call of two tracks on one stream, `gap_s` of silence in its middle: what is to be heard of it."""
    tracks = (l16_track(1, "AUDIO_FROM_CUSTOMER"), l16_track(2, "AUDIO_TO_CUSTOMER"))
    sides = [noise(seconds, 1), noise(seconds, 2)]
    for second in range(seconds):
        start_ms = 1000 * second + (round(1000 * gap_s) if second >= seconds // 2 else 0)
        blocks = [
            Block(track.number, start_ms + at, pcm.encode(side[at * 8 + second * RATE :][:800], "pcm_s16le"))
            for at in range(0, 1000, 100)
            for track, side in zip(tracks, sides, strict=True)
        ]
        shelf.keep("line", second + 1, ORIGIN_MS + start_ms, tracks, blocks, TAGS)
    half, pause = seconds // 2 * RATE, np.zeros(round(gap_s * RATE), np.float32)
    return [np.concatenate([side[:half], pause, side[half:]]) for side in sides]


def plan(shelf: Shelf, *more: Side, last: str | None = None, **changed: Any) -> Plan:
    latest = list(shelf.documents["line"].values())[-1][0]
    lanes = {1: (LEFT, latest.at_ms + 999.0), 2: (RIGHT, latest.at_ms + 999.0)}
    side = Side("line", lanes, ORIGIN_MS, latest.at_ms + 999, last or latest.number, "c", TAGS["MimeType"])
    return Plan("id", ORIGIN_MS, RATE, (replace(side, **changed), *more))


def heard(bucket: Path) -> tuple[np.ndarray, int]:
    """The recording, as the recordings door reads it."""
    with (bucket / "id.flac").open("rb") as file, open_audio(file, allow_av=False) as audio:
        assert audio.channels == 2
        return np.concatenate(list(audio.blocks(RATE))), audio.rate


@pytest.mark.parametrize("gap_s", [0.0, 7.3])
def test_both_sides_lie_where_they_were_spoken(shelf: Shelf, bucket: Path, gap_s: float) -> None:
    sides = talk(shelf, 8, gap_s)
    assert write(plan(shelf), "bucket", "id.flac", Event()) == ()
    found, rate = heard(bucket)
    assert rate == RATE
    assert np.array_equal(found, np.stack(sides, axis=1))


def test_what_comes_in_many_pieces_is_one_recording(
    shelf: Shelf, bucket: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sides = talk(shelf, 12)
    monkeypatch.setattr(archive, "PIECE_FRAGMENTS", 5)
    shelf.troubles, shelf.hidden = 2, 1
    assert write(plan(shelf), "bucket", "id.flac", Event()) == ()
    assert shelf.fetches == 3
    assert np.array_equal(heard(bucket)[0], np.stack(sides, axis=1))


def test_two_streams_are_read_side_by_side(shelf: Shelf, bucket: Path) -> None:
    """Chime's: a stream a side, of which the other one begins later and ends before."""
    mine, theirs = noise(6, 1), noise(2, 2)
    for name, sound, first_ms in (("mine", mine, 0), ("theirs", theirs, 1500)):
        for second in range(len(sound) // RATE):
            at_ms = first_ms + 1000 * second
            block = Block(1, at_ms, pcm.encode(sound[second * RATE :][:RATE], "pcm_s16le"))
            shelf.keep(name, second + 1, ORIGIN_MS + at_ms, (l16_track(1, "Track_audio/L16"),), [block])
    sides = tuple(
        Side(name, {1: (lane, math_inf)}, ORIGIN_MS, ORIGIN_MS + 9000, mime_type=TAGS["MimeType"])
        for lane, name in enumerate(("mine", "theirs"))
    )
    assert write(Plan("id", ORIGIN_MS, RATE, sides), "bucket", "id.flac", Event()) == ()
    found = heard(bucket)[0]
    assert np.array_equal(found[:, 0], mine)
    assert np.array_equal(found[12_000:28_000, 1], theirs)
    assert not found[:12_000, 1].any()
    assert not found[28_000:, 1].any()


math_inf = float("inf")


def test_replies_are_the_other_side_where_there_is_no_other_track(shelf: Shelf, bucket: Path) -> None:
    talk(shelf, 6)
    spoken = [noise(1, 7), noise(1, 8), noise(1, 9)]
    whose = (("another", 500, 0), ("id", 2000, 1), ("later", 4500, 2))  # calls that share the stream one by one
    for number, (call, at_ms, which) in enumerate(whose):
        block = Block(1, at_ms, pcm.encode(spoken[which], "pcm_mulaw"))
        shelf.keep("replies", number + 1, ORIGIN_MS + at_ms, (mulaw_track(1),), [block], {"ContactId": call})
    replies = Side("replies", {1: (RIGHT, math_inf)}, ORIGIN_MS, ORIGIN_MS + 6000, contact_id="id", is_replies=True)
    alone = plan(shelf, replies, lanes={1: (LEFT, math_inf)})
    assert write(alone, "bucket", "id.flac", Event()) == ()
    found = heard(bucket)[0][:, 1]
    assert np.abs(found[16_000:24_000] - spoken[1]).max() < 0.03
    assert not found[:16_000].any()
    assert not found[24_000:].any()


def test_replies_that_are_not_kept_are_missed_and_the_call_is_there(shelf: Shelf, bucket: Path) -> None:
    sides = talk(shelf, 2)
    shelf.documents["replies"] = {}

    def hours(stream: str) -> int:
        return 0 if stream == "replies" else 24

    archive.retention_hours = hours  # the fixture puts it back
    replies = Side("replies", {1: (RIGHT, math_inf)}, ORIGIN_MS, ORIGIN_MS + 6000, contact_id="id", is_replies=True)
    [warning] = write(plan(shelf, replies, lanes={1: (LEFT, math_inf)}), "bucket", "id.flac", Event())
    assert "replies are not in the recording: the stream replies keeps nothing" in warning
    assert np.array_equal(heard(bucket)[0][:, 0], sides[0])


def test_aac_is_decoded_as_it_was_for_the_recogniser(shelf: Shelf, bucket: Path) -> None:
    at_s = np.arange(3 * 16_000) / 16_000
    made = encoded((0.4 * np.sin(2 * np.pi * 440 * at_s)).astype(np.float32), 16_000)
    for number, first in enumerate(range(0, len(made.frames), 10)):
        some = range(first, min(first + 10, len(made.frames)))
        blocks = [Block(1, made.at_ms(index), made.frames[index]) for index in some]
        shelf.keep("line", number + 1, ORIGIN_MS + blocks[0].timecode_ms, (made.track,), blocks)
    wide = replace(plan(shelf, lanes={1: (LEFT, math_inf)}, contact_id=None, mime_type=""), rate=16_000)
    assert write(wide, "bucket", "id.flac", Event()) == ()
    found, rate = heard(bucket)
    middle = found[FRAME + 4000 : FRAME + 40_000, 0]
    assert rate == 16_000
    assert np.abs(middle - 0.4 * np.sin(2 * np.pi * 440 * at_s[4000:40_000])).max() < 0.1


def test_without_retention_it_is_said_that_there_is_nothing(shelf: Shelf, bucket: Path) -> None:
    talk(shelf, 2)
    shelf.hours = 0
    with pytest.raises(Unrecorded, match=r"the stream line keeps nothing \(its DataRetentionInHours is 0\)"):
        write(plan(shelf), "bucket", "id.flac", Event())
    assert list(bucket.iterdir()) == []


def test_what_the_stream_has_deleted_or_cannot_give_is_said(shelf: Shelf, bucket: Path) -> None:
    sides = talk(shelf, 8)
    whole = plan(shelf)
    kept = shelf.documents["line"]
    for number in list(kept)[:3]:
        del kept[number]
    kept[f"{6:047d}"] = kept[f"{6:047d}"][0], exception_document(f"{6:047d}", 4000, "gone")
    warnings = write(whole, "bucket", "id.flac", Event())
    assert warnings == (
        "the recording lacks 3.0 s that line had deleted before",
        "1 fragments could not be read for the recording",
    )
    found = heard(bucket)[0][:, 0]
    assert not found[: 3 * RATE].any()
    assert not found[5 * RATE : 6 * RATE].any()
    assert np.array_equal(found[6 * RATE :], sides[0][6 * RATE :])


def test_an_end_that_is_never_listed_is_said(shelf: Shelf, bucket: Path) -> None:
    talk(shelf, 3)
    assert write(plan(shelf, last=f"{9:047d}"), "bucket", "id.flac", Event()) == (
        "line does not list the end of the call, which the recording lacks",
    )
    shelf.troubles = 99
    with pytest.raises(Transient):
        write(plan(shelf), "bucket", "id.flac", Event())


def test_given_up_it_leaves_nothing(shelf: Shelf, bucket: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    talk(shelf, 3)
    stopped, fetched = Event(), shelf.fetched

    def stop(stream: str, piece: list[Kept]) -> bytes:
        stopped.set()
        return fetched(stream, piece)

    monkeypatch.setattr(archive, "fetched", stop)
    monkeypatch.setattr(archive, "PIECE_FRAGMENTS", 1)
    with pytest.raises(Stopped):
        write(plan(shelf), "bucket", "id.flac", stopped)
    assert list(bucket.iterdir()) == []


def test_memory_is_that_of_some_pieces_however_long_the_call_was(
    shelf: Shelf, bucket: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "PIECE_FRAGMENTS", 5)
    talk(shelf, 30)
    peaks = []
    for seconds in (10, 30):
        short = plan(shelf, to_ms=ORIGIN_MS + 1000 * seconds - 1, last=f"{seconds:047d}")
        tracemalloc.start()
        write(short, "bucket", "id.flac", Event())
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert soundfile.info(bucket / "id.flac").frames == seconds * RATE
    assert peaks[1] < 1.2 * peaks[0]  # 20 s of two tracks are 0.6 of it
