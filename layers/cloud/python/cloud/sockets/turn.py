"""One process speaking one context: it tells chunk after chunk, takes up what others bring, and stops when told to.

It has the context's hold. Between two chunks it looks at the context; where its time runs out it puts the speech
down and calls the next process. What it sent and had not put down when it died will be said again under the same
numbers.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.metrics import MetricUnit
from speech.errors import BadSnapshot

from cloud.observability import logger, metrics
from cloud.sockets.client_side import ClientSide, Gone
from cloud.sockets.connection_table import ConnectionTable
from cloud.sockets.context import CALLED, HOLD_S, PREFIX, Context, Hold, absorbed, written
from cloud.sockets.context_table import ContextTable
from cloud.sockets.envelope import Refused
from cloud.sockets.invocation import Invocation
from cloud.sockets.mouth import Mouth, Records
from cloud.sockets.said import Said
from cloud.sockets.stream_table import Conflict

if TYPE_CHECKING:
    from speech.tts.synthesizer import Synthesizer

REMEMBERED = 8  # speeches that a process keeps as it put them down: the next message may well come to it again
RENEW_S = HOLD_S / 3


class Behind(Exception):
    """Another process has spoken this context further: what it has put down is to be read."""


@dataclass(frozen=True)
class Speakers:
    """What speaking needs, shared by all turns of a process."""

    voices: Callable[[], Synthesizer]
    connections: ConnectionTable
    contexts: ContextTable
    clients: ClientSide
    mouths: OrderedDict[tuple[str, str], Mouth] = field(default_factory=OrderedDict)

    def silence(self, context: Context, said: Said, played_s: float | None) -> None:
        """Ends a context at once and tells what was heard. Raises Conflict where it was written meanwhile."""
        record = said.cancelled(context.voice.rate, context.line.next, played_s)
        self.end(context, record)
        self.clients.send(context.connection, record)

    def remember(self, key: tuple[str, str], mouth: Mouth) -> None:
        """Keeps a speech for the next message."""
        self.mouths[key] = mouth
        if len(self.mouths) > REMEMBERED:
            self.mouths.popitem(last=False)

    def end(self, context: Context, record: dict[str, Any]) -> None:
        """Writes that a context is over, with its last record. Raises Conflict where it was written meanwhile."""
        line = replace(context.line, waiting={})
        self.contexts.write(written(context, line=line, entries=(), hold=None, over=record))
        self.connections.drop_stream(context.connection, PREFIX + context.name)


class Turn:
    """From taking the hold to giving it back."""

    def __init__(self, speakers: Speakers, context: Context, invocation: Invocation) -> None:
        """`context` has just been written with this invocation's hold."""
        self._all, self._context, self._invocation = speakers, context, invocation
        self._key = context.connection, context.name
        self._renew_at_s = invocation.now_s + RENEW_S
        self._last: dict[str, Any] | None = None

    def run(self) -> None:
        """Speaks what there is. Raises Gone where the client is, and whatever else went wrong."""
        mouth = self._all.mouths.pop(self._key, None)
        if mouth is None or mouth.said.revision != self._context.said:
            mouth = None
        try:
            while not self._spoken(mouth or self._mouth()):
                mouth = None
        except BadSnapshot as bad:  # foreign after a new model was deployed, or too large: there is no going on
            self._lost(bad)
        except Gone:
            raise
        except Exception:
            self._give_back()
            raise

    def _mouth(self) -> Mouth:
        return Mouth(self._all.voices(), self._context, self._all.contexts.read_said(self._context))

    def _spoken(self, mouth: Mouth) -> bool:
        """Speaks until there is nothing left or the turn is over; False where another process has spoken meanwhile."""
        mouth.give(self._context.entries, self._context.first)
        records = mouth.records()
        try:
            while True:
                if (told := next(records, None)) is not None:
                    self._tell(told)
                elif self._put_down(mouth):
                    return True
                if self._invocation.deadline.passed():
                    return self._called_next(mouth)
                if self._invocation.now_s > self._renew_at_s:
                    self._renew_at_s = self._invocation.now_s + RENEW_S
                    self._put_down(mouth, self._invocation.me)
                if not self._look():
                    return True
                if self._context.cancel:
                    return self._silenced(mouth, self._context.cancel[0])
                mouth.give(self._context.entries, self._context.first)
                records = records if told is not None else mouth.records()
        except Behind:
            return False

    def _tell(self, told: Records) -> None:
        for record in told:
            self._last = {**record, "received": self._context.line.next}
            self._all.clients.send(self._context.connection, self._last)

    def _look(self) -> bool:
        """The context as it stands now; whether this process still holds it."""
        found = self._all.contexts.read(*self._key)
        if found is None:
            raise Gone(self._context.connection)
        if found.hold is None or found.hold.owner != self._invocation.me:
            logger.info("another process speaks")
            return False
        self._context = found
        return True

    def _put_down(self, mouth: Mouth, owner: str = "") -> bool:
        """Writes how far the speech is and who holds it now; False where the context was written meanwhile."""
        if (said := mouth.put_down()) is not None:
            try:
                self._all.contexts.write_said(said)
            except Conflict as conflict:
                raise Behind from conflict
        over = self._done(mouth) if mouth.over else None
        hold = Hold(owner, self._invocation.now_s + HOLD_S) if owner and not over else None
        changed = absorbed(self._context, mouth.said.entries, mouth.tail)
        changed = written(changed, hold=hold, over=over, said=mouth.said.revision)
        try:
            self._all.contexts.write(changed)
        except Conflict:
            return False
        self._context = changed
        if over:
            self._all.connections.drop_stream(self._context.connection, PREFIX + self._context.name)
        elif owner != self._invocation.me:
            self._all.remember(self._key, mouth)
        return True

    def _done(self, mouth: Mouth) -> dict[str, Any]:
        """The last record; made up again where the process that told it died before it wrote that."""
        if self._last is not None and self._last["type"] == "done":
            return self._last
        return mouth.done(self._context.entries[-1].sequence) | {"received": self._context.line.next}

    def _called_next(self, mouth: Mouth) -> bool:
        while not self._put_down(mouth, CALLED):
            if not self._look():
                return True
        if self._context.over is None:
            metrics.add_metric("TurnsHandedOver", MetricUnit.Count, 1)
            self._invocation.call_next(*self._key)
        return True

    def _silenced(self, mouth: Mouth, played_s: float | None) -> bool:
        try:
            self._all.silence(self._context, mouth.said, played_s)
        except Conflict:
            return not self._look() or self._silenced(mouth, played_s)
        return True

    def _lost(self, bad: BadSnapshot) -> None:
        lost = Refused("context_lost", f"{bad}: open another context", context=self._context.name).record()
        try:
            self._all.end(self._context, lost)
        except Conflict:
            if self._look():
                self._lost(bad)
            return
        self._all.clients.send(self._context.connection, lost)

    def _give_back(self) -> None:
        """Lets the next message try at once; the hold would end by itself, but later."""
        with suppress(Exception):
            self._all.contexts.write(written(self._context, hold=None))
