"""`python -m local kvs`: the endpoint by itself, until Ctrl-C."""

from __future__ import annotations

import argparse
import asyncio
import errno
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from local.kvs.settings import Settings
from local.state import LocalError

if TYPE_CHECKING:
    from local.kvs.server import Endpoint

PORT = 8443


def add(words: Any) -> None:
    """The word `kvs` and its options."""
    word = words.add_parser("kvs", help="an endpoint of Kinesis Video Streams alone, with TLS; stays until Ctrl-C")
    given = Settings()
    word.add_argument("--port", type=int, default=PORT, help=f"first of 4 ports; 0: any free ones (default: {PORT})")
    word.add_argument("--region", default=given.region)
    word.add_argument(
        "--key",
        type=pair,
        action="append",
        metavar="ID:SECRET",
        help="who may call; may be repeated (default: test:test)",
    )
    word.add_argument(
        "--get-media-s", type=float, default=given.get_media_s, metavar="S", help="until a GetMedia connection is cut"
    )
    word.add_argument(
        "--put-media-s", type=float, default=given.put_media_s, metavar="S", help="until a PutMedia connection is ended"
    )
    word.add_argument("--idle-s", type=float, default=given.idle_s, metavar="S", help="until a silent upload is ended")
    word.add_argument(
        "--calls-per-s",
        type=int,
        default=given.calls_per_s,
        metavar="N",
        help="per operation and stream; 0: any number",
    )
    word.set_defaults(run=run)


def pair(text: str) -> tuple[str, str]:
    """`ID:SECRET`."""
    key, colon, secret = text.partition(":")
    if not (key and colon and secret):
        raise argparse.ArgumentTypeError(f"{text!r}: expected ID:SECRET")
    return key, secret


def run(options: argparse.Namespace) -> int:
    """Serve until Ctrl-C or SIGTERM."""
    settings = Settings(
        region=options.region,
        keys=dict(options.key or [("test", "test")]),
        get_media_s=options.get_media_s,
        put_media_s=options.put_media_s,
        idle_s=options.idle_s,
        calls_per_s=options.calls_per_s,
    )
    asyncio.run(serve(settings, options.state / "kvs", options.port))
    return 0


async def serve(settings: Settings, folder: Path, port: int) -> None:
    """Listen, say where, and stay."""
    from local.kvs import certificate
    from local.kvs.server import HOST, ROLES, Endpoint

    endpoint = Endpoint(settings)
    try:
        await endpoint.start(certificate.context(folder), port)
    except OSError as error:
        await endpoint.stop()
        if error.errno != errno.EADDRINUSE:
            raise
        taken = f"one of the ports {port} to {port + len(ROLES) - 1} on {HOST} is taken"
        raise LocalError(f"{taken}: give another with --port (0: any free ones)") from None
    end = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, end.set)
    print(where(endpoint, folder), flush=True)
    await end.wait()
    await endpoint.stop()
    print("\nthe endpoint is down; what it held is gone")


def where(endpoint: Endpoint, folder: Path) -> str:
    """What a client's environment needs."""
    key, secret = next(iter(endpoint.settings.keys.items()))
    exports = {
        "AWS_ENDPOINT_URL_KINESIS_VIDEO": endpoint.url("control"),
        "AWS_CA_BUNDLE": str(folder / "ca.pem"),
        "AWS_DEFAULT_REGION": endpoint.settings.region,
        "AWS_ACCESS_KEY_ID": key,
        "AWS_SECRET_ACCESS_KEY": secret,
    }
    lines = [f"  export {name}={value}" for name, value in exports.items()]
    return "\n".join(["Kinesis Video Streams on this machine, until Ctrl-C; for its clients:", *lines])
