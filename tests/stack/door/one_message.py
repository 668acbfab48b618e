"""Handles one WebSocket message in a process of its own, as a Lambda that was never warm: the event comes by stdin.

    python -m tests.stack.door.one_message < event.json

The environment is that of functions/socket in the running stack.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

from tests.functions.situations import Context

APP = Path(__file__).resolve().parents[3] / "functions" / "socket" / "app.py"


def main() -> None:
    """Load the handler afresh and call it once."""
    spec = importlib.util.spec_from_file_location("app", APP)
    assert spec is not None
    assert spec.loader is not None
    app = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(app)
    assert app.handler(json.load(sys.stdin), Context()) == {"statusCode": 200}


if __name__ == "__main__":
    main()
