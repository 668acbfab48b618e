"""One invocation of the socket function: its name at this message, its time, and how it calls the next one."""

from __future__ import annotations

import json
from typing import Protocol
from uuid import uuid4

from cloud import deadline
from cloud.clients import client
from cloud.deadline import Deadline

MARGIN_S = 9.0  # seconds kept for putting speech down and telling: chunks are short, tables may be slow


class Context(deadline.Context, Protocol):
    """The part of Lambda's context that is used."""

    @property
    def function_name(self) -> str:
        """Of the function that runs."""
        ...

    @property
    def aws_request_id(self) -> str:
        """Of the invocation."""
        ...


class Invocation:
    """Made when a message comes."""

    def __init__(self, context: Context, budget_s: float = 0) -> None:
        """`budget_s`: after so long it calls another invocation to speak on, 0: only when its own time runs out."""
        self.request_id = context.aws_request_id
        self.me = uuid4().hex  # an invocation that is tried again has the same request id, and is another speaker
        self.deadline = Deadline(context, margin_s=MARGIN_S, budget_s=budget_s)
        self._function = context.function_name

    @property
    def now_s(self) -> float:
        """Seconds since 1970."""
        return self.deadline.now_s

    def call_next(self, connection: str, context: str) -> None:
        """Has another invocation speak on; what comes of it is told to the client, not here."""
        payload = json.dumps({"speak": {"connection": connection, "context": context}}).encode()
        client("lambda").invoke(FunctionName=self._function, InvocationType="Event", Payload=payload)
