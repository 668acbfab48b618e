"""Records become words once, however often, in whatever batches and from whichever shard they come."""

from __future__ import annotations

import random
import time
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tests.functions.records.mouth import FIRST, RATE, Mouth, Record, frames, shard
from tests.functions.situations import Context, load_event
from tests.tiny.sound import say

SPEECH = say("cat dog 1.6 twenty two oak", RATE, before_s=0.3, after_s=0.4)
WORDS = ["cat", "dog", "twenty", "two", "oak"]


def whole(mouth: Mouth, samples: np.ndarray = SPEECH, stream: str = "whole") -> list[dict[str, Any]]:
    """What one batch of everything gives, under the name of `call`."""
    assert mouth.give(*shard(frames(samples), stream)) == []
    return [result | {"stream": "call"} for result in mouth.told(stream)]


def test_a_recording_gives_its_words_turns_and_end(mouth: Mouth) -> None:
    told = whole(mouth)
    assert [result["type"] for result in told] == ["final", "turn_end", "final", "turn_end", "done"]
    assert mouth.words("whole") == WORDS
    assert [kind for kind, _ in mouth.aws.events.events] == ["Utterance Transcribed"] * 2 + ["Stream Ended"]
    numbers = [result["number"] for result in mouth.results("whole")]
    assert numbers == list(range(len(numbers)))
    assert {result["session"] for result in mouth.results("whole")} == {str(FIRST)}


@pytest.mark.parametrize("seed", range(6))
def test_any_batches_give_the_same_and_each_may_come_again(mouth: Mouth, seed: int) -> None:
    chance, records = random.Random(seed), shard(frames(SPEECH))
    at = 0
    while at < len(records):
        end = at + chance.randint(1, 6)
        for start in [at] * chance.randint(1, 3) + [max(0, at - 4)]:  # a retry begins at or before where it failed
            assert mouth.give(*records[start:end]) == []
        at = end
    assert mouth.told() == whole(mouth)


@pytest.mark.parametrize("broken", ["table", "stream", "bus"])
@pytest.mark.parametrize("at", [0, 3, 12])
def test_trouble_anywhere_brings_the_batch_again_and_loses_and_doubles_nothing(
    mouth: Mouth, broken: str, at: int
) -> None:
    records = shard(frames(SPEECH))
    batches = [records[start : start + 2] for start in range(0, len(records), 2)]
    for number, batch in enumerate(batches):
        if number == at and broken == "table":
            mouth.aws.dynamodb.down = 1
        elif number == at and broken == "stream":
            mouth.aws.kinesis.refuse = 100
        elif number == at:
            mouth.aws.events.down = 1
        attempts = 0
        while mouth.give(*batch):
            mouth.aws.kinesis.refuse, attempts = 0, attempts + 1
            assert attempts < 4
    once: dict[tuple[str, int], dict[str, Any]] = {}
    for result in mouth.results():
        assert once.setdefault((result["session"], result["number"]), result) == result
    finals = [r["raw_text"] for _, r in sorted(once.items()) if r["type"] == "final"]
    assert finals == ["cat dog", "twenty two oak"]
    assert [number for _, number in sorted(once)] == list(range(len(once)))


def test_results_that_were_not_sent_are_sent_when_the_batch_comes_again(mouth: Mouth) -> None:
    records = shard(frames(SPEECH))
    mouth.give(*records[:-1])
    mouth.aws.kinesis.refuse = 100
    assert mouth.give(records[-1]) == [str(records[-1][0])]
    mouth.aws.kinesis.refuse = 0
    assert mouth.give(records[-1]) == []
    assert mouth.give(records[-1]) == []
    assert mouth.told() == whole(mouth)


def test_a_bad_record_that_comes_again_is_told_once(mouth: Mouth) -> None:
    records = shard([b"hello?", *frames(SPEECH)])
    for batch in (records[:1], records[:1], records[:3], records[:3], records[2:]):
        assert mouth.give(*batch) == []
    assert [result["type"] for result in mouth.told()].count("error") == 1


def test_of_two_invocations_at_once_one_comes_again(mouth: Mouth) -> None:
    records = shard(frames(SPEECH))
    mouth.aws.dynamodb.before_write.append(lambda: mouth.give(*records))
    assert mouth.give(*records) == [str(records[0][0])]
    assert mouth.give(*records) == []
    assert mouth.told() == whole(mouth)


def test_a_stream_goes_on_in_the_shard_that_takes_over(mouth: Mouth) -> None:
    pieces = frames(SPEECH)
    parent, child = shard(pieces[:9]), shard(pieces[9:], first=10**30)  # numbers of a key rise beyond a split
    for batch in (parent, parent[5:], child[:4], child):
        assert mouth.give(*batch) == []
    assert mouth.told() == whole(mouth)


def test_streams_of_a_batch_are_kept_apart_and_one_that_fails_holds_up_no_other(mouth: Mouth) -> None:
    other = say("go gag", RATE, after_s=0.3)
    records: list[Record] = sorted(
        [*shard(frames(SPEECH), "one"), *shard(frames(other), "two", first=1)], key=lambda record: record[0]
    )
    mouth.aws.dynamodb.down = 1  # the first stream's write
    assert mouth.give(*records) == [str(FIRST)]
    assert mouth.words("two") == ["go", "gag"]
    assert mouth.give(*records) == []
    assert (mouth.words("one"), mouth.words("two")) == (WORDS, ["go", "gag"])


def test_what_a_producer_sends_again_is_heard_once(mouth: Mouth) -> None:
    pieces = frames(SPEECH)
    again = [piece for at, piece in enumerate(pieces) for piece in pieces[max(0, at - 1) : at + 1]]
    mouth.give(*shard(again))
    assert mouth.told() == whole(mouth)


def test_overlapping_pieces_are_heard_once(mouth: Mouth) -> None:
    pieces = frames(SPEECH, chunk_s=0.1)
    wide = [type(a)(a.format, a.position, a.audio + b.audio, b.last) for a, b in pairwise(pieces)]
    mouth.give(*shard(wide))
    assert mouth.told() == whole(mouth)


def test_a_short_gap_is_told_and_times_stay_right(mouth: Mouth) -> None:
    pieces = frames(SPEECH)
    quiet = next(at for at in range(6, len(pieces)) if not any(pieces[at].audio))
    mouth.give(*shard([*pieces[:quiet], *pieces[quiet + 1 :]]))
    told = mouth.told()
    assert [r for r in told if r["type"] == "gap"] == [
        {"type": "gap", "stream": "call", "at_s": round(quiet * 0.2, 3), "missing_s": 0.2}
    ]
    assert [r for r in told if r["type"] != "gap"] == whole(mouth)


def test_a_long_gap_ends_the_segment_and_times_stay_right(mouth: Mouth) -> None:
    first, second = say("cat", RATE, before_s=0.2), say("dog", RATE, before_s=0.2, after_s=0.4)
    late = [type(f)(f.format, f.position + 60 * RATE, f.audio, f.last) for f in frames(second)]
    mouth.give(*shard([*frames(first)[:-1], *late]))
    assert mouth.words() == ["cat", "dog"]
    final = [r for r in mouth.told() if r["type"] == "final"][1]
    assert (final["segment"], final["start_s"]) == (1, pytest.approx(60.2, abs=0.15))
    assert mouth.told()[-1]["audio_s"] == round(60 + len(second) / RATE, 3)


def test_a_name_may_be_used_again_after_the_end(mouth: Mouth) -> None:
    other = say("go gag", RATE, after_s=0.3)
    mouth.give(*shard(frames(SPEECH)), *shard(frames(other), first=500))
    sessions = [r["session"] for r in mouth.results() if r["type"] == "done"]
    assert sessions == [str(FIRST), str(FIRST + 500)]
    assert mouth.words() == [*WORDS, "go", "gag"]


@pytest.mark.parametrize("encoding", ["pcm_s16le", "pcm_f32le", "pcm_mulaw", "pcm_alaw"])
def test_every_encoding_is_heard_in_either_form(mouth: Mouth, encoding: str) -> None:
    pieces = frames(SPEECH, encoding)
    mouth.give(*shard(pieces, "binary"))
    mouth.give(*shard([piece.to_json() for piece in pieces], "json"))
    assert mouth.words("binary") == mouth.words("json") == WORDS


def test_two_channels_are_told_apart(mouth: Mouth) -> None:
    other = say("go gag", RATE, before_s=0.5)
    both = np.zeros((len(SPEECH), 2), np.float32)
    both[:, 0], both[: len(other), 1] = SPEECH, other
    mouth.give(*shard(frames(both)))
    finals = [(r["channel"], r["raw_text"]) for r in mouth.results() if r["type"] == "final"]
    assert sorted(finals) == [(0, "cat dog"), (0, "twenty two oak"), (1, "go gag")]


def test_what_a_producer_left_open_is_made_final_and_it_may_go_on(mouth: Mouth) -> None:
    first, second = say("cat dog", RATE, before_s=0.2), say("oak", RATE, before_s=0.2, after_s=0.3)
    left = shard(frames(first)[:-1])
    mouth.give(*left)
    batches, now_s = mouth.app.batches, time.time()
    assert (batches.sweep(now_s + 299), mouth.words()) == (0, [])
    assert (batches.sweep(now_s + 301), mouth.words()) == (1, ["cat", "dog"])
    assert batches.sweep(now_s + 900) == 0
    assert mouth.give(*left[-2:]) == []  # a late retry
    at = len(left) * RATE // 5
    late = [type(f)(f.format, f.position + at, f.audio, f.last) for f in frames(second)]
    mouth.give(*shard(late, first=900))
    assert mouth.words() == ["cat", "dog", "oak"]
    numbers = [result["number"] for result in mouth.results()]
    assert numbers == list(range(len(numbers)))


def test_results_that_nobody_sent_are_sent_by_the_sweep(mouth: Mouth) -> None:
    mouth.aws.kinesis.refuse = 100
    pieces = frames(say("cat 1.6 dog", RATE, before_s=0.2, after_s=0.3))[:-1]
    assert mouth.give(*shard(pieces)) != []
    mouth.aws.kinesis.refuse = 0
    assert mouth.app.batches.sweep(time.time() + 301) == 1
    assert mouth.words() == ["cat", "dog"]


def test_the_schedule_looks_after_open_streams(mouth: Mouth) -> None:
    assert mouth.app.handler(load_event("sweep", "records"), Context()) == {"rested": 0}


def test_many_results_are_written_in_parts_that_fit_an_item(mouth: Mouth, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cloud.records.stream.MOST_RESULT_BYTES", 500)
    mouth.give(*shard(frames(SPEECH)))
    assert mouth.told() == whole(mouth)


def test_a_stream_of_another_model_says_so_and_goes_on(mouth: Mouth) -> None:
    records = shard(frames(SPEECH))
    mouth.give(*records[:4])
    item = mouth.aws.dynamodb.tables["records"]["stream#call",]
    item["session"]["B"] = item["session"]["B"][:-1] + b"?"
    assert mouth.give(*records[4:]) == []
    assert [r["code"] for r in mouth.told() if r["type"] == "error"] == ["state_lost"]
    assert mouth.told()[-1]["audio_s"] == round(len(SPEECH) / RATE, 3)


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("binary", ["done"]),
        ("json", ["done"]),
        ("two_streams", ["done"]),
        ("repeated", ["done"]),
        ("missing_audio", ["gap", "done"]),
        ("one_good_one_bad", ["error", "done"]),
        ("other_format", ["error"]),
    ],
)
def test_every_situation_has_its_results(mouth: Mouth, name: str, kinds: list[str]) -> None:
    assert mouth.app.handler(load_event(name, "records"), Context()) == {"batchItemFailures": []}
    assert [result["type"] for result in mouth.results("call-17")] == kinds
