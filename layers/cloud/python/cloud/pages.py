"""A static page behind API Gateway, from memory: a strict policy, and addresses that change when the files do.

The page itself is asked for afresh each time, which costs little with its ETag. Everything that it names lies under a
digest of all of it, so browsers keep it for good, and a page never mixes files of two versions.
"""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

INDEX = "index.html"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
KEPT_FOR_GOOD = "public, max-age=31536000, immutable"
ASKED_AGAIN = "no-cache"
ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Vary": "Accept-Encoding",
}
PLAIN = {"Content-Type": "text/plain; charset=utf-8"}


@dataclass(frozen=True, slots=True)
class File:
    """One file as it is sent."""

    body: bytes
    packed: bytes  # gzip
    headers: Mapping[str, str]

    @classmethod
    def of(cls, name: str, body: bytes, **headers: str) -> File:
        """`name` tells the type. Raises KeyError for one of no type in TYPES."""
        etag = f'W/"{sha256(body).hexdigest()[:32]}"'  # weak: the same for both encodings
        own = {"Content-Type": TYPES[Path(name).suffix], "ETag": etag, **headers}
        return cls(body, gzip.compress(body, mtime=0), ALWAYS | own)


class Page:
    """Answers GET requests of one page and its files."""

    def __init__(self, folder: Path, values: Mapping[str, str], connect: Sequence[str]) -> None:
        """Reads all files of `folder`; `{{name}}` in its index becomes `values[name]`, `{{version}}` the digest.

        connect: origins and addresses beside its own that the page may talk to. Raises OSError without an index.
        """
        bodies = {path.relative_to(folder).as_posix(): path.read_bytes() for path in _files(folder)}
        whole = sha256(b"".join(name.encode() + b"\0" + body for name, body in bodies.items()))
        self.version = whole.hexdigest()[:16]
        index = (folder / INDEX).read_text()
        for name, value in {**values, "version": self.version}.items():
            index = index.replace(f"{{{{{name}}}}}", value)
        self._index = File.of(INDEX, index.encode(), **_page_headers(connect), **{"Cache-Control": ASKED_AGAIN})
        self._files = {
            f"{self.version}/{name}": File.of(name, body, **{"Cache-Control": KEPT_FOR_GOOD})
            for name, body in bodies.items()
            if name != INDEX
        }

    def answer(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to an event of API Gateway's REST API: 200, 304, 404 for what is no file of this version."""
        name = (event.get("pathParameters") or {}).get("proxy")
        if not name and event["path"].endswith("/"):  # from there its relative addresses would lead astray
            return {"statusCode": 308, "headers": ALWAYS | {"Location": "../console"}, "body": ""}
        file = self._files.get(name) if name else self._index
        if file is None:
            return {"statusCode": 404, "headers": ALWAYS | PLAIN, "body": "no such file; reload the page"}
        asked = {key.lower(): value for key, value in (event.get("headers") or {}).items()}
        headers = dict(file.headers)
        if headers["ETag"].removeprefix("W/") in asked.get("if-none-match", ""):
            return {"statusCode": 304, "headers": headers, "body": ""}
        if "gzip" in asked.get("accept-encoding", ""):
            packed = b64encode(file.packed).decode()
            headers["Content-Encoding"] = "gzip"
            return {"statusCode": 200, "headers": headers, "body": packed, "isBase64Encoded": True}
        return {"statusCode": 200, "headers": headers, "body": file.body.decode()}


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in TYPES)


def _page_headers(connect: Sequence[str]) -> dict[str, str]:
    """What the page may do: run its own scripts, play what it made, talk to its own API, and nothing else."""
    policy = {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self'",
        "media-src": "blob:",
        "connect-src": " ".join(["'self'", *connect]),
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
    }
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "Permissions-Policy": "microphone=(self), camera=(), geolocation=()",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
    }
