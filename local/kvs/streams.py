"""The streams of the endpoint and the control plane's operations on them; each takes and returns what boto3 does."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from local.kvs.fragments import Fragments
from local.kvs.refusals import Refused
from local.kvs.settings import Settings

HOUR_S = 3600
MOST_TAGS = 50


@dataclass(slots=True)
class VideoStream:
    """One stream."""

    name: str
    arn: str
    created_s: float
    retention_h: int
    fragments: Fragments
    device: str | None = None
    media_type: str | None = None
    key: str = ""
    tags: dict[str, str] = field(default_factory=dict)
    version: str = field(default_factory=lambda: secrets.token_hex(10))
    readers: int = 0  # GetMedia connections
    end_upload: Callable[[], None] | None = None  # of the PutMedia connection that is open

    def described(self) -> dict[str, Any]:
        """StreamInfo."""
        told = {
            "DeviceName": self.device,
            "StreamName": self.name,
            "StreamARN": self.arn,
            "MediaType": self.media_type,
            "KmsKeyId": self.key,
            "Version": self.version,
            "Status": "ACTIVE",
            "CreationTime": self.created_s,
            "DataRetentionInHours": self.retention_h,
        }
        return {name: value for name, value in told.items() if value is not None}


class Streams:
    """All streams by name."""

    def __init__(self, settings: Settings, now: Callable[[], float]) -> None:
        self._settings, self._now = settings, now
        self._streams: dict[str, VideoStream] = {}

    def find(self, asked: dict[str, Any]) -> VideoStream:
        """The stream of a StreamName or StreamARN."""
        name, arn = asked.get("StreamName"), asked.get("StreamARN")
        if not (name or arn):
            raise Refused("InvalidArgumentException", "neither StreamName nor StreamARN is given, expected one of them")
        for stream in self._streams.values():
            if (name in (None, stream.name)) and (arn in (None, stream.arn)):
                return stream
        raise Refused("ResourceNotFoundException", f"the stream {name or arn} was not found in this account and region")

    def create(self, asked: dict[str, Any]) -> dict[str, Any]:
        """CreateStream."""
        name, now_s = asked["StreamName"], self._now()
        if name in self._streams:
            raise Refused("ResourceInUseException", f"the stream {name} already exists")
        hours = asked.get("DataRetentionInHours", 0)
        where = f"arn:aws:kinesisvideo:{self._settings.region}:{self._settings.account}"
        self._streams[name] = VideoStream(
            name,
            f"{where}:stream/{name}/{int(now_s * 1000)}",
            now_s,
            hours,
            Fragments(self._settings, self._now, hours * HOUR_S),
            asked.get("DeviceName"),
            asked.get("MediaType"),
            asked.get("KmsKeyId", f"{where.replace('kinesisvideo', 'kms')}:alias/aws/kinesisvideo"),
            dict(asked.get("Tags", {})),
        )
        return {"StreamARN": self._streams[name].arn}

    def describe(self, asked: dict[str, Any]) -> dict[str, Any]:
        """DescribeStream."""
        return {"StreamInfo": self.find(asked).described()}

    def list(self, asked: dict[str, Any]) -> dict[str, Any]:
        """ListStreams; the token is the name to go on behind."""
        begins = asked.get("StreamNameCondition", {}).get("ComparisonValue", "")
        after, most = asked.get("NextToken", ""), asked.get("MaxResults", 10_000)
        names = sorted(name for name in self._streams if name.startswith(begins) and name > after)
        told: dict[str, Any] = {"StreamInfoList": [self._streams[name].described() for name in names[:most]]}
        return told | ({"NextToken": names[most - 1]} if len(names) > most else {})

    def delete(self, asked: dict[str, Any]) -> dict[str, Any]:
        """DeleteStream; open connections end."""
        stream = self._current(asked)
        del self._streams[stream.name]
        stream.fragments.delete()
        if stream.end_upload:
            stream.end_upload()
        return {}

    def update(self, asked: dict[str, Any]) -> dict[str, Any]:
        """UpdateStream."""
        stream = self._current(asked)
        stream.device = asked.get("DeviceName", stream.device)
        stream.media_type = asked.get("MediaType", stream.media_type)
        stream.version = secrets.token_hex(10)
        return {}

    def update_retention(self, asked: dict[str, Any]) -> dict[str, Any]:
        """UpdateDataRetention."""
        stream = self._current(asked)
        by = asked["DataRetentionChangeInHours"]
        hours = stream.retention_h + (by if asked["Operation"] == "INCREASE_DATA_RETENTION" else -by)
        if hours < 0:
            raise Refused("InvalidArgumentException", f"a retention of {hours} hours, expected 0 or more")
        stream.retention_h = hours
        stream.fragments.retention_s = hours * HOUR_S
        stream.version = secrets.token_hex(10)
        return {}

    def tag(self, asked: dict[str, Any]) -> dict[str, Any]:
        """TagStream."""
        stream = self.find(asked)
        if len(stream.tags | asked["Tags"]) > MOST_TAGS:
            raise Refused("InvalidArgumentException", f"more than {MOST_TAGS} tags on one stream")
        stream.tags |= asked["Tags"]
        return {}

    def untag(self, asked: dict[str, Any]) -> dict[str, Any]:
        """UntagStream."""
        stream = self.find(asked)
        stream.tags = {name: value for name, value in stream.tags.items() if name not in asked["TagKeyList"]}
        return {}

    def list_tags(self, asked: dict[str, Any]) -> dict[str, Any]:
        """ListTagsForStream."""
        return {"Tags": self.find(asked).tags}

    def _current(self, asked: dict[str, Any]) -> VideoStream:
        """The stream, if the caller knows its present version."""
        stream = self.find(asked)
        if asked.get("CurrentVersion", stream.version) != stream.version:
            raise Refused("VersionMismatchException", f"CurrentVersion is not {stream.version}, that of {stream.name}")
        return stream
