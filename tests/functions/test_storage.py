"""Objects as streams: ranged reads and multipart writes, against the whole object in memory as the oracle."""

from __future__ import annotations

import io
import random

import pytest
from botocore.exceptions import ClientError
from cloud import storage
from cloud.recordings import Recording
from cloud.storage import Gone, S3Reader, Superseded
from cloud.uploads import S3Writer

from tests.functions.fake_aws import FakeAws, refusal

BODY = random.Random(1).randbytes(10_000)


def reader(aws: FakeAws, block_bytes: int = 1000) -> S3Reader:
    return S3Reader("b", "k", aws.s3.put("b", "k", BODY), len(BODY), block_bytes=block_bytes)


def recording(etag: str, version_id: str = "") -> Recording:
    return Recording("b", "k", etag, version_id, "0" * 32, len(BODY))


@pytest.mark.parametrize("size", [1, 7, 999, 1000, 1001, 4096, 20_000])
def test_any_size_of_read_gives_the_object(aws: FakeAws, size: int) -> None:
    stream = reader(aws)
    assert b"".join(iter(lambda: stream.read(size), b"")) == BODY


def test_reads_are_never_short_before_the_end(aws: FakeAws) -> None:
    stream = reader(aws)
    assert [len(stream.read(3333)) for _ in range(5)] == [3333, 3333, 3333, 1, 0]


def test_seeks_land_where_a_file_in_memory_lands(aws: FakeAws) -> None:
    stream, oracle, dice = reader(aws), io.BytesIO(BODY), random.Random(2)
    for _ in range(300):
        place, size = dice.randrange(-len(BODY), 1), dice.randrange(2500)
        assert stream.seek(place, io.SEEK_END) == oracle.seek(place, io.SEEK_END)
        assert stream.read(size) == oracle.read(size)
        assert stream.seek(-1, io.SEEK_CUR) == oracle.seek(-1, io.SEEK_CUR) == stream.tell()


def test_a_seek_before_the_start_is_refused_with_the_numbers(aws: FakeAws) -> None:
    with pytest.raises(ValueError, match="seek to -5, before the start of k"):
        reader(aws).seek(-5)


def test_reading_through_costs_one_request_a_block(aws: FakeAws) -> None:
    stream = reader(aws)
    while stream.read(64):
        pass
    assert aws.s3.reads == [f"bytes={start}-{start + 999}" for start in range(0, 10_000, 1000)]


def test_a_look_at_the_end_does_not_fetch_the_middle(aws: FakeAws) -> None:
    stream = reader(aws)
    stream.read(10)
    stream.seek(-10, io.SEEK_END)
    stream.read(10)
    stream.seek(10)
    stream.read(10)
    assert aws.s3.reads == ["bytes=0-999", "bytes=9000-9999"]


def test_an_object_overwritten_while_it_is_read_is_noticed(aws: FakeAws) -> None:
    stream = reader(aws)
    stream.read(10)
    aws.s3.put("b", "k", BODY[::-1])
    with pytest.raises(Superseded, match="uploaded anew while it was being read"):
        stream.read(2000)


def test_an_object_deleted_while_it_is_read_is_noticed(aws: FakeAws) -> None:
    stream = reader(aws)
    del aws.s3.objects["b", "k"]
    with pytest.raises(Gone, match="deleted before it could be read"):
        stream.read(1)


def test_only_the_upload_that_the_event_is_about_is_opened(aws: FakeAws) -> None:
    etag = aws.s3.put("b", "k", BODY)
    assert storage.open_current(recording(etag)).read() == BODY
    with pytest.raises(Superseded, match="uploaded anew before it was read"):
        storage.open_current(recording("another"))
    with pytest.raises(Gone):
        storage.open_current(Recording("b", "missing", etag, "", "", 1))


def test_a_result_is_written_over_an_older_one_and_not_over_a_newer_one(aws: FakeAws) -> None:
    for sequencer in ("1", "3", "3"):
        storage.write_if_newest("b", "out", sequencer.encode(), "text/plain", sequencer)
    with pytest.raises(Superseded, match="a later upload"):
        storage.write_if_newest("b", "out", b"2", "text/plain", "2")
    assert aws.s3.objects["b", "out"]["Body"] == b"3"


def test_a_writer_that_comes_between_look_and_write_is_respected(aws: FakeAws, monkeypatch: pytest.MonkeyPatch) -> None:
    put = aws.s3.put_object

    def overtaken(**request: object) -> object:
        monkeypatch.setattr(aws.s3, "put_object", put)
        storage.write_if_newest("b", "out", b"newer", "text/plain", "9")
        return put(**request)  # type: ignore[arg-type]

    monkeypatch.setattr(aws.s3, "put_object", overtaken)
    with pytest.raises(Superseded):
        storage.write_if_newest("b", "out", b"older", "text/plain", "1")
    assert aws.s3.objects["b", "out"]["Body"] == b"newer"


@pytest.mark.parametrize("length", [0, 5, 999, 1000, 1001, 3500, 9000])
def test_a_stream_is_written_in_parts_and_its_head_may_change(aws: FakeAws, length: int) -> None:
    oracle, pieces = io.BytesIO(), [BODY[at : min(at + 77, length)] for at in range(0, length, 77)]
    with S3Writer("b", "out", part_bytes=1000) as stream:
        for file in (stream, oracle):
            for piece in pieces:
                file.write(piece)
            assert file.seek(4) == 4
            file.write(b"head")
            assert file.seek(0, io.SEEK_END) == max(length, 8)
    assert aws.s3.objects["b", "out"]["Body"] == oracle.getvalue()


def test_rewriting_what_has_left_is_refused(aws: FakeAws) -> None:
    def write() -> None:
        with S3Writer("b", "out", part_bytes=1000) as stream:
            stream.write(BODY[:5000])
            stream.seek(2000)
            stream.write(b"x")

    with pytest.raises(io.UnsupportedOperation, match="write at byte 2000"):
        write()
    assert not aws.s3.uploads
    assert not aws.s3.objects


def test_a_failure_leaves_no_object_and_no_upload(aws: FakeAws, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(**_: object) -> object:
        raise refusal("InternalError")

    def write() -> None:
        with S3Writer("b", "out", part_bytes=1000) as stream:
            stream.write(BODY[:5000])

    monkeypatch.setattr(aws.s3, "complete_multipart_upload", broken)
    with pytest.raises(ClientError, match="InternalError"):
        write()
    assert not aws.s3.uploads
    assert not aws.s3.objects
