"""Jobs or calls, newest first, out of an index by state: the heads of its partitions, merged, a page at a time.

A page ends with a mark, the time and id of its last job; the next one goes on behind it, whatever came in meanwhile.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from speech.errors import BadInput

STATUSES = ("AWAITING_UPLOAD", "QUEUED", "IN_PROGRESS", "COMPLETED", "FAILED")
LAST = ("9999", "")  # behind every time that is written in ISO 8601


@dataclass(frozen=True, slots=True)
class Page:
    """Some jobs, as the table's items, and the mark to go on from; None at the end."""

    items: list[dict[str, Any]]
    next: str | None


class Listed(Protocol):
    """A table of things that have an id, a state and a time of creation."""

    def in_state(self, status: str, until: str) -> Iterator[dict[str, Any]]:
        """Those in a state that were created at the time `until` or before, newest first."""
        ...


def newest(jobs: Listed, statuses: Sequence[str], limit: int, after: str | None = None) -> Page:
    """Up to `limit` things in any of these states, behind a mark. Raises BadInput for a mark that is none."""
    mark = _unpack(after) if after else LAST
    heads = [item for status in statuses for item in _behind(jobs, status, mark, limit + 1)]
    heads.sort(key=_place, reverse=True)
    page = heads[:limit]
    return Page(page, _pack(_place(page[-1])) if len(heads) > limit else None)


def _behind(jobs: Listed, status: str, mark: tuple[str, str], limit: int) -> Iterator[dict[str, Any]]:
    """The first jobs of a state behind a mark; those of one instant come in any order, so all of them are read."""
    found = 0
    last = None
    for item in jobs.in_state(status, mark[0]):
        if found >= limit and item["created_at"] != last:
            return
        if _place(item) < mark:
            found, last = found + 1, item["created_at"]
            yield item


def _place(item: dict[str, Any]) -> tuple[str, str]:
    return item["created_at"], item["id"]


def _pack(mark: tuple[str, str]) -> str:
    return urlsafe_b64encode(json.dumps(mark).encode()).decode().rstrip("=")


def _unpack(text: str) -> tuple[str, str]:
    try:
        created_at, job_id = json.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        return str(created_at), str(job_id)
    except (ValueError, TypeError) as error:
        raise BadInput("after: expected what `next` of a list said") from error
