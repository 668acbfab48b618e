"""The audio stream is split and merged while somebody speaks: Kinesis -> Lambda -> Kinesis, and every word once.

The emulator forgets what nobody had read of a shard that ends, and reads a new one from the moment at which it finds
it. So the producer does what it may do whenever in doubt: it sends again, from the beginning, until that was taken;
the last record comes alone, since after it position 0 would begin another stream.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cloud.records.frames import Frame

from local import live
from tests.stack.door.door import Door, wav
from tests.stack.door.test_records_on_the_stack import results
from tests.tiny.sound import say

SPEECH = say("cat dog 1.6 go tad oak gag dog 1.6 twenty two cat", before_s=0.2, after_s=0.3)
FINALS = ["cat dog", "go tad oak gag dog", "twenty two cat"]


def deliver(door: Door, stream: str, frames: list[Frame]) -> str:
    """Sends frames until all of them have been taken: the shard that they went to."""
    table, kinesis = door.stack.client("dynamodb"), door.stack.client("kinesis")
    position = frames[-1].position + len(frames[-1].audio) // frames[-1].format.frame_bytes
    shards = set[str]()

    def taken() -> bool:
        key = {"id": {"S": f"stream#{stream}"}}
        item = table.get_item(TableName=door.name("RecordTable"), Key=key, ConsistentRead=True).get("Item")
        if item is not None and int(item["position"]["N"]) >= position:
            return True
        for frame in frames:
            put = kinesis.put_record(StreamName=door.name("AudioStream"), PartitionKey=stream, Data=frame.pack())
            shards.add(put["ShardId"])
        return False

    door.wait(taken, f"the first {len(frames)} records of {stream}")
    [shard] = shards
    return shard


def split(door: Door, shard: str) -> None:
    """A shard becomes two."""
    name, kinesis = door.name("AudioStream"), door.stack.client("kinesis")
    [found] = [one for one in kinesis.list_shards(StreamName=name)["Shards"] if one["ShardId"] == shard]
    middle = (int(found["HashKeyRange"]["StartingHashKey"]) + int(found["HashKeyRange"]["EndingHashKey"])) // 2
    kinesis.split_shard(StreamName=name, ShardToSplit=shard, NewStartingHashKey=str(middle))


def merge(door: Door) -> None:
    """The two become one again."""
    name, kinesis = door.name("AudioStream"), door.stack.client("kinesis")
    one, other = (shard["ShardId"] for shard in kinesis.list_shards(StreamName=name)["Shards"])
    kinesis.merge_shards(StreamName=name, ShardToMerge=one, AdjacentShardToMerge=other)


def plain(told: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Results without what depends on how records came."""
    kept = [result for result in told if result["type"] not in ("partial", "turn_start")]
    return [{k: v for k, v in result.items() if k not in ("stream", "session", "number")} for result in kept]


def test_no_word_is_lost_or_doubled_when_shards_are_split_and_merged_in_mid_stream(door: Door, tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_bytes(wav(SPEECH))
    frames = list(live.frames(tmp_path / "a.wav"))
    first = deliver(door, "moved", frames[: len(frames) // 3])
    split(door, first)
    second = deliver(door, "moved", frames[: 2 * len(frames) // 3])
    merge(door)
    third = deliver(door, "moved", frames[:-1])
    deliver(door, "moved", frames[-1:])
    assert len({first, second, third}) == 3
    told = results(door, "moved")
    assert [result["number"] for result in told] == list(range(len(told)))
    assert [result["raw_text"] for result in told if result["type"] == "final"] == FINALS
    deliver(door, "still", frames[:-1])
    deliver(door, "still", frames[-1:])
    assert plain(told) == plain(results(door, "still"))
