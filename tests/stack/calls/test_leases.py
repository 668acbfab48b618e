"""Leases in the embedded DynamoDB: one holder at a time, taken over after their end and at once when handed over."""

from __future__ import annotations

import threading

import pytest
from cloud.calls.call import Call
from cloud.calls.leases import Lease, LeaseTable, LostLease, NotFree
from cloud.video.getmedia import Start

from tests.stack.calls.conftest import LEASE_S

NOW_S = 1_800_000_000.0


def call(name: str = "c") -> Call:
    return Call(name, "stream", Start("FRAGMENT_NUMBER", fragment="7"), "contact")


def test_a_call_is_added_once(leases: LeaseTable) -> None:
    assert leases.add(call(), NOW_S)
    assert not leases.add(call(), NOW_S)  # Chime tells of the start of a call twice
    assert leases.free(10, NOW_S) == ["c"]


def test_it_has_one_holder(leases: LeaseTable) -> None:
    leases.add(call(), NOW_S)
    lease = leases.acquire("c", "a", NOW_S)
    assert (lease.call, lease.owner, lease.generation, lease.checkpoint) == (call(), "a", 1, None)
    assert leases.free(10, NOW_S) == []
    with pytest.raises(NotFree):
        leases.acquire("c", "b", NOW_S + LEASE_S)
    with pytest.raises(NotFree, match="not known"):
        leases.acquire("nobody", "b", NOW_S)


def test_a_race_has_one_winner(leases: LeaseTable) -> None:
    leases.add(call(), NOW_S)
    won: list[Lease] = []

    def race(owner: str) -> None:
        try:
            won.append(leases.acquire("c", owner, NOW_S))
        except NotFree:
            return

    threads = [threading.Thread(target=race, args=(f"worker-{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1


def test_a_dead_holder_is_followed_from_its_checkpoint(leases: LeaseTable) -> None:
    leases.add(call(), NOW_S)
    first = leases.renew(leases.acquire("c", "a", NOW_S), NOW_S + 10, checkpoint="one")
    assert leases.free(10, NOW_S + LEASE_S + 1) == []  # renewed
    later_s = NOW_S + 10 + LEASE_S + 0.001
    assert leases.free(10, later_s) == ["c"]
    second = leases.acquire("c", "b", later_s)
    assert (second.owner, second.generation, second.checkpoint) == ("b", 2, "one")
    # The first was only slow: whatever it tries now, it finds out.
    for attempt in (
        lambda: leases.renew(first, later_s, checkpoint="two"),
        lambda: leases.hand_over(first, "two"),
        lambda: leases.end(first, "contact", later_s),
    ):
        with pytest.raises(LostLease):
            attempt()
    assert leases.renew(second, later_s).checkpoint == "one"


def test_a_holder_that_takes_its_own_call_again_is_another_holder(leases: LeaseTable) -> None:
    leases.add(call(), NOW_S)
    first = leases.acquire("c", "a", NOW_S)
    again = leases.acquire("c", "a", NOW_S + LEASE_S + 1)
    with pytest.raises(LostLease):
        leases.renew(first, NOW_S + LEASE_S + 1)
    leases.renew(again, NOW_S + LEASE_S + 1)


def test_a_call_that_is_handed_over_is_free_at_once(leases: LeaseTable) -> None:
    leases.add(call(), NOW_S)
    leases.hand_over(leases.acquire("c", "a", NOW_S), "three")
    assert leases.acquire("c", "b", NOW_S).checkpoint == "three"


def test_what_has_ended_is_never_free(leases: LeaseTable) -> None:
    leases.add(call(), NOW_S)
    leases.end(leases.acquire("c", "a", NOW_S), "contact", NOW_S + 1)
    assert leases.free(10, NOW_S + 1e6) == []
    with pytest.raises(NotFree):
        leases.acquire("c", "b", NOW_S + 1e6)
    assert not leases.add(call(), NOW_S + 1e6)
    assert leases.read("c")["reason"] == "contact"


def test_who_waits_longest_comes_first(leases: LeaseTable) -> None:
    for name in ("x", "y"):
        leases.add(call(name), NOW_S)
    leases.acquire("x", "a", NOW_S)
    assert leases.free(10, NOW_S + LEASE_S + 1) == ["y", "x"]
    assert leases.free(1, NOW_S + LEASE_S + 1) == ["y"]
