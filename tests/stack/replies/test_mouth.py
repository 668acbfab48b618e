"""Frames leave in time from a thread of their own; what is stopped stays stopped, whatever still comes."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from cloud.replies.mouth import Mouth
from cloud.video.endpoints import NoStream
from cloud.video.reply import Reply
from speech.media.acks import AckError

from tests.stack.replies.voice import TRACK, Uploads

FRAME = 160  # bytes of 20 ms


def nothing(*_: object) -> None: ...


def sound(ms: int) -> bytes:
    return bytes(at % 251 for at in range(8 * ms))


@pytest.fixture
def uploads() -> Uploads:
    return Uploads()


@pytest.fixture
def mouth(uploads: Uploads) -> Iterator[Mouth]:
    made = Mouth("call", uploads.reply())
    yield made
    made.close()
    made.join(10)


def test_an_utterance_is_sent_whole_and_heard_whole(mouth: Mouth, uploads: Uploads) -> None:
    left = list[float]()
    utterance = mouth.begin(nothing, left.append)
    for at in range(0, 1600, 100):
        utterance.say(sound(200)[at : at + 100])
    utterance.end()
    assert utterance.wait() == pytest.approx(0.2)
    assert uploads.audio == sound(200)
    assert len(left) == 1
    [upload] = uploads.all
    assert left[0] <= upload.blocks[3][0]  # told of as soon as the first frame was on its way


def test_stopped_in_the_middle_it_says_how_much_was_heard(mouth: Mouth, uploads: Uploads) -> None:
    utterance = mouth.begin(nothing, nothing)
    utterance.say(sound(5000))
    uploads.after(8)
    utterance.stop()
    heard_s = utterance.wait()
    sent = uploads.sent
    assert 0.02 * 4 <= heard_s <= 0.02 * sent
    assert 0.02 * sent - heard_s <= 0.06 + 0.02  # what was on its way: the lead, and the frame that was being sent
    utterance.say(sound(1000))
    utterance.end()
    after = mouth.begin(nothing, nothing)
    after.say(sound(20))
    after.end()
    assert after.wait() == pytest.approx(0.02)
    assert uploads.sent == sent + 1


def test_a_new_utterance_stops_the_one_before(mouth: Mouth, uploads: Uploads) -> None:
    first = mouth.begin(nothing, nothing)
    first.say(sound(5000))
    uploads.after(4)
    second = mouth.begin(nothing, nothing)
    assert first.wait() < 5
    second.say(sound(40)[::-1])
    second.end()
    assert second.wait() == pytest.approx(0.04)
    assert uploads.audio.endswith(sound(40)[::-1])


def test_what_may_not_be_said_is_not(mouth: Mouth, uploads: Uploads) -> None:
    def claim() -> None:
        raise RuntimeError("another worker has the call")

    utterance = mouth.begin(claim, nothing)
    utterance.say(sound(100))
    utterance.end()
    assert utterance.wait() == 0.0
    assert uploads.sent == 0


def test_what_was_never_said_was_not_heard(mouth: Mouth) -> None:
    first = mouth.begin(nothing, nothing)
    first.say(sound(100))
    first.end()
    first.wait()
    second = mouth.begin(nothing, nothing)
    second.stop()
    assert second.wait() == 0.0


def test_a_connection_that_breaks_is_replaced(mouth: Mouth, uploads: Uploads) -> None:
    uploads.broken = 2
    utterance = mouth.begin(nothing, nothing)
    utterance.say(sound(100))
    utterance.end()
    assert utterance.wait() == pytest.approx(0.1)
    assert len(uploads.all) > 1
    assert uploads.audio == sound(100)


@pytest.mark.parametrize("failure", ["broken", "no stream", "refused", "no endpoint"])
def test_without_a_stream_time_passes_all_the_same(failure: str) -> None:
    uploads = Uploads()

    def cannot(stream: str, start_s: float) -> object:
        raise (NoStream if failure == "no stream" else OSError)("there is none")

    opened = uploads.open if failure in ("broken", "refused") else cannot
    reply = Reply("replies", TRACK, open=opened)  # type: ignore[arg-type]
    uploads.broken = 1 << 30 if failure == "broken" else 0
    if failure == "refused":
        reply.refusals.append(AckError("ERROR", None, None, "MAX_FRAME_TIMESTAMP_DELTA", 4009))
    mouth = Mouth("call", reply)
    utterance = mouth.begin(nothing, nothing)
    utterance.say(sound(60))
    utterance.end()
    assert utterance.wait() == pytest.approx(0.06)
    mouth.close()
    mouth.join(10)


def test_a_closed_mouth_says_nothing_more_and_lets_nobody_wait(uploads: Uploads) -> None:
    mouth = Mouth("call", uploads.reply())
    utterance = mouth.begin(nothing, nothing)
    utterance.say(sound(5000))
    uploads.after(1)
    mouth.close()
    mouth.join(10)
    assert utterance.wait() < 5
    assert mouth.begin(nothing, nothing).wait() == 0.0
    assert uploads.closed.is_set()


def test_the_connection_is_there_before_the_first_word(mouth: Mouth, uploads: Uploads) -> None:
    mouth.prepare()
    mouth.prepare()
    seen = list[int]()
    done = threading.Event()

    def claim() -> None:
        seen.append(len(uploads.all))
        done.set()

    mouth.begin(claim, nothing).stop()
    done.wait()
    assert seen == [1]
