"""The worker's side of who watches its calls: gives events away for delivery, and tells newcomers what was so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cloud.calls import so_far, told
from cloud.calls.courier import Courier
from cloud.calls.so_far import Running
from cloud.calls.told import Event
from cloud.calls.watchers import LOOK, PART, SO_FAR, Watchers, parted

if TYPE_CHECKING:
    from cloud.calls.session import Session

LOOK_S = 2.0  # between two looks at who watches a call
WAITING = 2000  # events: behind so many, whoever watches is told anew what was so far


@dataclass
class Gallery:
    """Used by the worker's thread, which it never makes wait."""

    watchers: Watchers
    _courier: Courier[Event] = field(init=False)
    _looked_s: dict[str, float] = field(init=False, default_factory=dict)  # by call
    _running: dict[str, Running] = field(init=False, default_factory=dict)  # by call

    def __post_init__(self) -> None:
        send = self.watchers.send
        self._courier = Courier("watchers of calls", send, told.latest, attempts=1, most=WAITING, instead=parted)

    def give(self, events: list[Event]) -> None:
        """Events for whoever watches."""
        for event in events:
            self._running.setdefault(event["call"], Running()).note(event)
        self._courier.give(events)

    def greet(self, session: Session, now_s: float) -> None:
        """Tell those who have come what was so far, which must have been given; called often."""
        call_id = session.call.id
        if now_s - self._looked_s.get(call_id, float("-inf")) >= LOOK_S:
            self._looked_s[call_id] = now_s
            self._courier.give([{"call": call_id, "type": LOOK}])
        if newcomers := self.watchers.newcomers(call_id):
            what = so_far.taken(session, self._running.get(call_id, Running()), now_s)
            self._courier.give([{"call": call_id, "type": SO_FAR, "to": newcomers, "what": what}])

    def forget(self, call_id: str) -> None:
        """A call is over, or another worker's."""
        self._looked_s.pop(call_id, None)
        self._running.pop(call_id, None)
        self._courier.give([{"call": call_id, "type": PART}])

    def close(self) -> None:
        """Deliver what waits, then end the thread."""
        self._courier.close()
