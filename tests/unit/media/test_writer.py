"""What the writers write, read back by FFmpeg, which shares no code with them, and by our own parser."""

from __future__ import annotations

import io
from fractions import Fraction

import av
import numpy as np
import pytest
from speech.audio import pcm
from speech.errors import BadMedia
from speech.media import writer as w
from speech.media.documents import FragmentWriter, error_document, exception_document
from speech.media.events import Block, FragmentEnd, FragmentInfo, FragmentStart, ServiceError, Tags, Track
from speech.media.formats import audio_format

from tests.unit.media import mkv
from tests.unit.media.test_parser import only

SAMPLES = np.sin(np.arange(16000) / 7).astype(np.float32) * 0.5


def upload(writer: w.PutMediaWriter, data: bytes, number: int, bytes_per_ms: int) -> bytes:
    """`data` in blocks of 20 ms."""
    step = 20 * bytes_per_ms
    out = [writer.block(number, at // bytes_per_ms, data[at : at + step]) for at in range(0, len(data), step)]
    return b"".join([*out, writer.finish({"call": "7"})])


def with_ffmpeg(data: bytes) -> list[tuple[str, int, bytes, list[float]]]:
    """(codec, rate, all bytes, times in ms) of each track."""
    with av.open(io.BytesIO(data)) as container:
        found: list[list[av.Packet]] = [[] for _ in container.streams]
        for packet in container.demux():
            if packet.size:
                found[packet.stream.index].append(packet)
        return [
            (
                stream.codec_context.name,
                stream.codec_context.sample_rate,
                b"".join(map(bytes, packets)),
                [float(packet.pts * packet.time_base * 1000) for packet in packets],
            )
            for stream, packets in zip(container.streams, found, strict=True)
        ]


@pytest.mark.parametrize(
    ("track", "encoding"),
    [(w.mulaw_track(1), "pcm_mulaw"), (w.alaw_track(1), "pcm_alaw"), (w.pcm_track(1), "pcm_s16le")],
)
def test_ffmpeg_reads_every_byte_of_what_is_uploaded(track: Track, encoding: str) -> None:
    data = pcm.encode(SAMPLES, encoding)
    media = upload(w.PutMediaWriter([track]), data, 1, 8 * pcm.sample_bytes(encoding))
    ((codec, rate, read, times),) = with_ffmpeg(media)
    assert (codec, rate, read) == (encoding, 8000, data)
    assert times == [20.0 * n for n in range(100)]
    assert audio_format(track).encoding == encoding


def test_ffmpeg_and_the_parser_agree_on_two_tracks() -> None:
    writer = w.PutMediaWriter([w.mulaw_track(1, name="one"), w.pcm_track(2, rate=16000, name="two")], 500)
    frames = [(1 + n % 2, 30 * n, bytes([n]) * 32) for n in range(60)]
    media = b"".join(writer.block(*frame) for frame in frames) + writer.finish()
    blocks = only(mkv.parse(media), Block)
    assert [(b.track, b.timecode_ms, b.data) for b in blocks] == frames
    for number, (_, _, data, times) in enumerate(with_ffmpeg(media), 1):
        assert data == b"".join(b.data for b in blocks if b.track == number)
        assert times == [b.timecode_ms for b in blocks if b.track == number]


def test_a_frame_is_bytes_to_send_at_once() -> None:
    writer = w.PutMediaWriter([w.mulaw_track(1)])
    first = mkv.Parser().receive(writer.block(1, 0, b"abc"))
    assert only(first, Block) == [Block(1, 0, b"abc")]
    assert writer.block(1, 20, b"def") == bytes.fromhex("a3 87 81 0014 80") + b"def"


def test_the_head_is_that_of_the_standard() -> None:
    media = w.PutMediaWriter([w.mulaw_track(1)]).begin(1000)
    assert media.startswith(bytes.fromhex("1a45dfa3 a3 428681 01"))
    assert bytes.fromhex("18538067 01ffffffffffffff") in media
    assert bytes.fromhex("2ad7b1 83 0f4240") in media
    assert bytes.fromhex("63a2 92 0700 0100 401f0000 401f0000 0100 0800 0000") in media
    assert media.endswith(bytes.fromhex("1f43b675 01ffffffffffffff e7 82 03e8"))


def test_fragments_begin_when_due_and_have_their_tags() -> None:
    writer = w.PutMediaWriter([w.mulaw_track(1)], 1000)
    media = b"".join(writer.block(1, 20 * n, b"\xff" * 160, {"n": str(n)}) for n in range(120)) + writer.finish(
        {"n": "last"}
    )
    events = mkv.parse(media)
    assert [start.timecode_ms for start in only(events, FragmentStart)] == [0, 1000, 2000]
    ends = only(events, FragmentEnd)
    assert [(end.tags["n"], end.blocks, end.complete) for end in ends] == [
        ("50", 50, True),
        ("100", 50, True),
        ("last", 20, True),
    ]
    assert only(events, Tags)[-1] == Tags({"AWS_KINESISVIDEO_END_OF_FRAGMENT": ""})


def test_an_upload_goes_on_after_a_pause() -> None:
    writer = w.PutMediaWriter([w.mulaw_track(1)])
    media = writer.block(1, 0, b"a") + writer.finish() + writer.block(1, 9000, b"b") + writer.finish() + writer.finish()
    assert [(end.blocks, end.complete) for end in only(mkv.parse(media), FragmentEnd)] == [(1, True), (1, True)]
    assert media.count(b"END_OF_FRAGMENT") == 2


def test_a_fragment_waits_for_a_frame_of_each_track() -> None:
    writer = w.PutMediaWriter([w.mulaw_track(1), w.mulaw_track(2)], 200)
    media = (
        writer.block(1, 0, b"a") + writer.block(1, 300, b"b") + writer.block(2, 300, b"c") + writer.block(1, 320, b"d")
    )
    assert [start.timecode_ms for start in only(mkv.parse(media), FragmentStart)] == [0, 320]
    with pytest.raises(BadMedia, match=r"tracks \[2\] have no frame"):
        writer.finish()


def started() -> w.PutMediaWriter:
    writer = w.PutMediaWriter([w.mulaw_track(1)])
    writer.block(1, 100, b"x")
    return writer


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (lambda: w.PutMediaWriter([]), "0 tracks, expected 1 to 3"),
        (lambda: w.PutMediaWriter([w.mulaw_track(1)] * 2), "with different numbers"),
        (lambda: w.PutMediaWriter([w.mulaw_track(1)], 100), "fragments of 100 ms, expected 200 to 10000"),
        (lambda: started().block(2, 200, b""), r"track 2, expected one of \[1\]"),
        (lambda: started().block(1, 99, b""), "99 ms behind one at 100 ms"),
        (lambda: started().begin(99), "99 ms behind one at 100 ms"),
        (lambda: started().finish({"AWS_X": ""}), "'AWS_X': names that begin with AWS"),
        (lambda: started().finish({"": ""}), "names of 1 to 128 bytes"),
        (lambda: started().finish({"k": "v" * 257}), "values of 256"),
        (lambda: started().finish({str(n): "" for n in range(11)}), "11 tags in one fragment, the service takes 10"),
        (lambda: w.PutMediaWriter([w.mulaw_track(1)]).begin(-1), "-1 ms behind one at 0 ms"),
    ],
)
def test_what_the_service_would_refuse_is_refused_here(act: object, reason: str) -> None:
    with pytest.raises(BadMedia, match=reason):
        act()  # type: ignore[operator]


INFO = FragmentInfo(mkv.NUMBER.format(1), 1.6e9, 1.6e9 + 0.25, 12, mkv.NUMBER.format(1))
BLOCKS = [Block(1, 1000 + 64 * n, bytes([n]) * 1024) for n in range(15)]


@pytest.mark.parametrize("archived", [False, True])
def test_a_fragment_of_the_service_comes_back_as_it_was(archived: bool) -> None:
    writer = FragmentWriter((w.l16_track(1, "AUDIO_FROM_CUSTOMER"),), INFO, archived)
    events = mkv.parse(writer.whole(BLOCKS, 1000, {"ContactId": "c"}))
    assert only(events, Track) == [w.l16_track(1, "AUDIO_FROM_CUSTOMER")]
    assert only(events, Block) == BLOCKS
    (end,) = only(events, FragmentEnd)
    assert (end.info.number, end.info.producer_timestamp, end.tags) == (INFO.number, 1.6e9 + 0.25, {"ContactId": "c"})
    assert archived or (end.info == INFO and end.complete)


def test_the_service_s_own_tags_have_sizes_of_four_bytes() -> None:
    start = FragmentWriter((), FragmentInfo("1")).start()
    tag = bytes.fromhex("45a3 1000001f") + b"AWS_KINESISVIDEO_FRAGMENT_NUMBER"[:31]
    assert bytes.fromhex("1254c367 10") in start
    assert tag[:2] + b"\x10\x00\x00\x20" in start


def test_a_fragment_without_a_cluster() -> None:
    events = mkv.parse(FragmentWriter((w.l16_track(1, "x"),), INFO).whole([], None))
    assert [(type(event).__name__) for event in events[-2:]] == ["FragmentStart", "FragmentEnd"]
    assert only(events, FragmentEnd)[0].blocks == 0


def test_errors_of_the_service() -> None:
    events = mkv.parse(error_document("InternalError", 5000) + exception_document("12", 4000, "not found"))
    assert only(events, ServiceError) == [
        ServiceError("InternalError", 5000, "", None),
        ServiceError("", 4000, "not found", "12"),
    ]


def test_ffmpeg_s_own_files_are_read_to_the_byte() -> None:
    out = io.BytesIO()
    with av.open(out, "w", format="matroska", options={"live": "1", "cluster_time_limit": "500"}) as container:
        stream = container.add_stream("pcm_s16le", rate=8000, layout="mono")
        frame = av.AudioFrame.from_ndarray((SAMPLES * 32767).astype(np.int16).reshape(1, -1), "s16", "mono")
        frame.rate = 8000
        sent = [bytes(packet) for packet in stream.encode(frame)]
        frame_bytes = b"".join(sent)
        for at in range(0, len(frame_bytes), 320):
            packet = av.Packet(frame_bytes[at : at + 320])
            packet.stream, packet.pts, packet.dts, packet.time_base = stream, at // 16, at // 16, Fraction(1, 1000)
            container.mux(packet)
    events = mkv.parse(out.getvalue(), range(0, len(out.getvalue()), 333))
    ((_, _, data, times),) = with_ffmpeg(out.getvalue())
    assert b"".join(b.data for b in only(events, Block)) == data == frame_bytes
    assert [b.timecode_ms for b in only(events, Block)] == times
    assert audio_format(only(events, Track)[0]).rate == 8000
