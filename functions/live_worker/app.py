"""The process of a Fargate task: hears live calls until SIGTERM, and then hands them over.

Its code lies where Lambda has it, in /opt/python and /opt/models. A start without a usable environment or bundle fails
at once, naming what is wrong.
"""

from __future__ import annotations

import signal
import threading

from cloud.calls.service import Service
from cloud.settings import LiveWorkerSettings, load


def main() -> None:
    """Work until SIGTERM or Ctrl-C."""
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    Service(load(LiveWorkerSettings)).run(stopped.is_set)


if __name__ == "__main__":
    main()
