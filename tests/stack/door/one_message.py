"""Handles one WebSocket message in a process of its own, as a Lambda that was never warm: the event comes by stdin.

    python -m tests.stack.door.one_message < event.json

The environment is that of functions/socket in the running stack.
"""

from __future__ import annotations

import json
import sys

from tests.functions import cold
from tests.functions.situations import Context


def main() -> None:
    """Load the handler afresh and call it once."""
    app = cold.start("socket")
    assert app.handler(json.load(sys.stdin), Context()) == {"statusCode": 200}


if __name__ == "__main__":
    main()
