"""Jobs come newest first, each once, whatever the page's size and however many came at one instant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from cloud import listing
from hypothesis import given
from hypothesis import strategies as st
from speech.errors import BadInput


class Table:
    """The index of the job table: by state, newest first, in no order among equals."""

    def __init__(self, jobs: list[dict[str, Any]]) -> None:
        self.jobs = jobs
        self.read = 0

    def in_state(self, status: str, until: str) -> Iterator[dict[str, Any]]:
        found = [job for job in self.jobs if job["status"] == status and job["created_at"] <= until]
        for job in sorted(found, key=lambda job: job["created_at"], reverse=True):
            self.read += 1
            yield job


JOBS = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.text("0123456789abcdef", min_size=4, max_size=4),
            "status": st.sampled_from(listing.STATUSES),
            "created_at": st.sampled_from([f"2026-11-30T10:00:0{second}.000+00:00" for second in range(4)]),
        }
    ),
    unique_by=lambda job: job["id"],
    max_size=40,
)


@given(JOBS, st.integers(1, 10))
def test_pages_together_are_all_jobs_newest_first(jobs: list[dict[str, Any]], limit: int) -> None:
    table, seen, mark = Table(jobs), [], None
    for _ in range(len(jobs) + 1):
        page = listing.newest(table, listing.STATUSES, limit, mark)  # type: ignore[arg-type]
        assert len(page.items) <= limit
        seen += page.items
        mark = page.next
        if mark is None:
            break
    assert seen == sorted(jobs, key=lambda job: (job["created_at"], job["id"]), reverse=True)


def test_a_page_reads_no_more_than_it_needs() -> None:
    jobs = [
        {"id": f"{n:04x}", "status": "COMPLETED", "created_at": f"2026-11-30T{n // 60:02d}:{n % 60:02d}"}
        for n in range(1000)
    ]
    table = Table(jobs)
    page = listing.newest(table, ["COMPLETED"], 20)  # type: ignore[arg-type]
    listing.newest(table, ["COMPLETED"], 20, page.next)  # type: ignore[arg-type]
    assert table.read <= 2 * 23


@pytest.mark.parametrize("mark", ["@", "bnVsbA", "WzFd", "e30", "ü", "A" * 199])
def test_a_mark_that_is_none_is_refused(mark: str) -> None:
    with pytest.raises(BadInput, match="expected what `next` of a list said"):
        listing.newest(Table([]), listing.STATUSES, 1, mark)  # type: ignore[arg-type]
