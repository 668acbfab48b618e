"""What becomes of the news that a call has begun or ended: an item in the table, and one message in the queue."""

from __future__ import annotations

from dataclasses import dataclass

from aws_lambda_powertools.metrics import MetricUnit

from cloud import queues
from cloud.calls import intake
from cloud.calls.leases import LeaseTable
from cloud.calls.starts import Begun, Ended, Nothing
from cloud.observability import logger, metrics

QUEUED_S = 30.0  # a call is left to those that hear of it by its message; then anybody who finds it may take it
PAIRING_S = 1  # Chime tells of a call's two sides one after the other: who takes the call should find both


@dataclass(frozen=True, slots=True)
class CallDesk:
    """Takes news of calls; `now_s` is seconds since 1970."""

    leases: LeaseTable
    queue_url: str

    def take(self, news: Begun | Ended | Nothing, now_s: float) -> dict[str, str]:
        """{"call", "status"}: started, known, joined (another stream of a known call), ended or ignored.

        The same news again changes nothing.
        """
        if isinstance(news, Nothing):
            logger.info("ignored: %s", news.why)
            return {"call": "", "status": "ignored"}
        if isinstance(news, Ended):
            known = self.leases.change(news.call_id, news.change)
            return {"call": news.call_id, "status": "ended" if known else "ignored"}
        return {"call": news.call.id, "status": self._begin(news, now_s)}

    def _begin(self, news: Begun, now_s: float) -> str:
        call = news.call
        if self.leases.add(call, now_s, QUEUED_S):
            # Were the message lost here, the table would still be looked at.
            queues.send(self.queue_url, intake.body(call.id), PAIRING_S if call.speaker else 0)
            metrics.add_metric("CallsStarted", MetricUnit.Count, 1)
            return "started"
        joined = self.leases.change(call.id, news.change)
        several = joined is not None and any(leg.stream == call.stream for leg in joined.more)
        return "joined" if several else "known"
