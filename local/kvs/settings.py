"""What the local endpoint of Kinesis Video Streams allows; the defaults are the service's own limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Limits and identity of one endpoint."""

    region: str = "us-east-1"
    account: str = "000000000000"
    keys: Mapping[str, str] = field(default_factory=lambda: {"test": "test"})  # secret keys by access key
    skew_s: float = 300.0  # between a signature's time and ours
    calls_per_s: int = 5  # of one operation on one stream; 0: any number
    get_media_s: float = 2700.0  # a GetMedia connection ends without a word after that time
    get_media_bytes: Callable[[], int | None] = lambda: None  # asked for each connection: bytes until it is cut off
    readers: int = 3  # GetMedia connections of one stream
    put_media_s: float = 2700.0  # a PutMedia connection ends with error 4003 after that time
    idle_s: float = 30.0  # a PutMedia connection ends when nothing came for that time
    keep_alive_s: float = 10.0  # IDLE acknowledgements while nothing comes
    refuse_second_upload: bool = False  # the service's two documents differ: the later one wins, or is refused
    fragment_ms: int = 10_000
    fragment_bytes: int = 50_000_000
    tracks: int = 3
    fragment_tags: int = 10
    host_buffer_s: float = 300.0  # how long a stream without retention can still be read
    host_buffer_bytes: int = 200_000_000
    store_bytes: int = 1 << 30  # held of one stream with retention: everything is in memory
