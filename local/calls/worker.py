"""A worker as a process: `python -m local.calls.worker --bundle DIR`. Tells what it hears on its output, a line each.

It finds the services by its environment, holds calls until SIGTERM, and then hands them over.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import time
from typing import Any

from cloud.calls.call import Call
from cloud.calls.leases import LeaseTable
from cloud.calls.worker import Worker, WorkerSettings
from cloud.live.told import Told
from cloud.observability import logger
from speech.asr.recognizer import Recognizer
from speech.text.transcript import Transcript, to_transcribe_json

from local.calls.resources import BUCKET, TABLE

LEASE_S = 2.0  # short, so that one sees a dead worker followed


class Lines:
    """Where results go."""

    def tell(self, call: Call, records: list[Told]) -> None:
        """Records as they are told."""
        self._print({"call": call.id, "at_s": time.time(), "records": records})

    def ended(self, call: Call, transcript: Transcript, reason: str) -> None:
        """The whole transcript."""
        told = to_transcribe_json(transcript, call.id)
        self._print({"call": call.id, "at_s": time.time(), "ended": reason, "transcript": told})

    @staticmethod
    def _print(line: dict[str, Any]) -> None:
        print(json.dumps(line), flush=True)


def main() -> None:
    """Work until SIGTERM."""
    parser = argparse.ArgumentParser(prog="python -m local.calls.worker", description=__doc__)
    parser.add_argument("--bundle", required=True, metavar="DIR")
    recognizer = Recognizer.load(parser.parse_args().bundle)
    logger.setLevel("WARNING")
    stopped: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: stopped.append(number))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    settings = WorkerSettings(BUCKET, "calls/", renew_s=LEASE_S / 4, checkpoint_s=1.0, look_s=0.2)
    worker = Worker(settings, recognizer, LeaseTable(TABLE, LEASE_S), Lines(), owner=str(os.getpid()))
    print(json.dumps({"ready": os.getpid()}), flush=True)
    while not stopped:
        worker.turn()
    worker.hand_over()


if __name__ == "__main__":
    main()
