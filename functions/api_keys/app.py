"""The authoriser of the REST API: lets in whoever has an API key, in either of the headers that clients send it in."""

from __future__ import annotations

from typing import Any

from cloud.callers import Callers, decision
from cloud.settings import Settings, load

settings = load(Settings)  # it reads none: which API asks stands in the event
callers = Callers()


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Answers one question of the gateway."""
    return decision(event, callers)
