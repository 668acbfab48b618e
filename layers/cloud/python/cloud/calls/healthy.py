"""`python -m cloud.calls.healthy FILE`: whether a worker has touched its heartbeat lately; for a container's check."""

from __future__ import annotations

import sys
import time
from pathlib import Path

LATEST_S = 30.0  # a turn takes milliseconds, or some seconds when much has come at once


def is_healthy(heartbeat: Path, now_s: float) -> bool:
    """Whether the file was touched within the last half minute."""
    try:
        return now_s - heartbeat.stat().st_mtime < LATEST_S
    except FileNotFoundError:
        return False


if __name__ == "__main__":
    sys.exit(0 if is_healthy(Path(sys.argv[1]), time.time()) else 1)
