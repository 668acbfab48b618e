"""What a worker does with what it hears: a sink tells the world, and where callers are answered, replies listen.

Where a spoken reply plugs in: `Replies`, which is given the same records as the sink, right behind it; each perhaps
again after another worker has taken over, under the same (channel, number).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from speech.text.transcript import Transcript

from cloud.calls.call import Call
from cloud.live.told import Told

if TYPE_CHECKING:
    from cloud.calls.leases import Lease
    from cloud.calls.session import Session


class Sink(Protocol):
    """Where results go. Everything may be called again with the same: what was told has (call, channel, number).

    `call.began_ms` is the zero of all times `..._s` in records.
    """

    def tell(self, call: Call, records: list[Told]) -> None:
        """Records of a call, in order for each channel; those that are no partials are numbered."""
        ...

    def ended(self, call: Call, transcript: Transcript, reason: str) -> None:
        """The call is over; every record was told."""
        ...


@runtime_checkable
class Settling(Protocol):
    """A sink that delivers what it is told in a thread of its own."""

    def settle(self) -> None:
        """Return once all of it has arrived. Raises NotDelivered, and may be called again."""
        ...


@runtime_checkable
class Beginning(Protocol):
    """A sink that is told when the first worker takes a call."""

    def began(self, call: Call) -> None:
        """A call is being heard from now on."""
        ...


@runtime_checkable
class Greeting(Protocol):
    """A sink that somebody may join who was not there from the beginning."""

    def greet(self, session: Session) -> None:
        """Tell newcomers what was so far; called once a turn, for each call of which everything was told."""
        ...


@runtime_checkable
class Recording(Protocol):
    """A sink that keeps the sound of calls. Both are used by the worker's thread, and must not make it wait."""

    def recorded(self, call: Call, session: Session) -> bool:
        """Whether the recording of a call that is over is made, or there will be none; asked again until it is so."""
        ...

    def forget(self, call: Call) -> None:
        """The call is over, or another worker's."""
        ...


class Replies(Protocol):
    """Who answers callers; used by the worker's thread, and must not make it wait."""

    def begin(self, lease: Lease, session: Session) -> None:
        """A call was taken."""
        ...

    def hear(self, call_id: str, session: Session, told: list[Told]) -> None:
        """What was told of a call just now."""
        ...

    def flush(self) -> None:
        """Tell of replies what there is to tell; called once a turn."""
        ...

    def over(self, call_id: str) -> bool:
        """A call has ended with what was being said in it: whether all of that was told; asked again until it is so."""
        ...

    def end(self, call_id: str) -> None:
        """A call is over, or another worker's: nothing more is said or told."""
        ...

    def put_down(self) -> None:
        """The worker is told to stop: leave every answer for the next one."""
        ...
