"""Called by API Gateway for the page: its HTML, its styles and its scripts, to anybody, since they tell nothing.

The page asks its user for an API key. What is not there is a 404; nothing else can go wrong after a start.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cloud.pages import Page
from cloud.settings import ConsoleSettings, load

settings = load(ConsoleSettings)
page = Page(
    Path(__file__).parent / "page",
    {"socket": settings.socket_url},
    [settings.socket_url, *settings.storage_origins],
)


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Answers one request."""
    return page.answer(event)
