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
from cloud.replies.chat import Chat
from cloud.replies.desk import Desk
from cloud.replies.dialogue import Manner
from cloud.replies.echo import Echo
from cloud.replies.responder import Responder
from speech.asr.recognizer import Recognizer
from speech.text.transcript import Transcript, to_transcribe_json
from speech.tts.synthesizer import Synthesizer

from local.calls.resources import BUCKET, TABLE
from local.calls.services import REPLIES

LEASE_S = 2.0  # short, so that one sees a dead worker followed
HEARD_S = 0.25
FALLBACK = "Sorry, something went wrong on my side. Could you say that again?"
PROMPT = "You are on the telephone. Answer in one or two short spoken sentences, without lists, markup or emoji."


class Lines:
    """Where results go."""

    _heard_s = 0.0  # when `heard` was told last

    def tell(self, call: Call, records: list[Told]) -> None:
        """Records as they are told, those of replies too."""
        # The sound of replies is heard by way of their stream.
        kept = [record for record in records if record["type"] != "reply_audio"]
        self._print({"call": call.id, "at_s": time.time(), "records": kept})

    def ended(self, call: Call, transcript: Transcript, reason: str) -> None:
        """The whole transcript."""
        told = to_transcribe_json(transcript, call.id)
        self._print({"call": call.id, "at_s": time.time(), "ended": reason, "transcript": told})

    def heard(self, worker: Worker) -> None:
        """Now and then, how far calls were heard, of which there may be nothing else to tell."""
        if (now_s := time.time()) - self._heard_s < HEARD_S:
            return
        self._heard_s = now_s
        for call, held in worker.held.items():
            ends_ms = [track.end_ms or 0.0 for track in held.session.tracks.values()]
            self._print({"call": call, "at_s": now_s, "heard_s": min(ends_ms, default=0.0) / 1000})

    @staticmethod
    def _print(line: dict[str, Any]) -> None:
        print(json.dumps(line), flush=True)


def desk(options: argparse.Namespace, leases: LeaseTable, lines: Lines) -> Desk:
    """Who replies, with which voice."""
    synthesizer = Synthesizer.load(options.voice_bundle)
    responder: Responder = Echo()
    if options.respond != "echo":
        # A key for trying things out; what is deployed has a reference to a secret.
        key = os.environ.get("OPENAI_API_KEY", "")
        responder = Chat(options.respond, options.model, PROMPT, lambda: key)
    manner = Manner(responder, lambda: synthesizer.stream(rate=8000, encoding="pcm_mulaw"), "pcm_mulaw", 8000, FALLBACK)
    return Desk(manner, leases, lines.tell, lambda call: REPLIES)


def main() -> None:
    """Work until SIGTERM."""
    parser = argparse.ArgumentParser(prog="python -m local.calls.worker", description=__doc__)
    parser.add_argument("--bundle", required=True, metavar="DIR")
    parser.add_argument("--voice-bundle", metavar="DIR", help="as a rule nothing is said in reply")
    parser.add_argument("--respond", default="echo", metavar="WHO", help="echo, or a URL")
    parser.add_argument("--model", default="", metavar="NAME")
    options = parser.parse_args()
    recognizer = Recognizer.load(options.bundle)
    logger.setLevel("WARNING")
    stopped: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: stopped.append(number))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    settings = WorkerSettings(BUCKET, "calls/", renew_s=LEASE_S / 4, checkpoint_s=1.0, look_s=0.2)
    leases, lines = LeaseTable(TABLE, LEASE_S), Lines()
    replies = desk(options, leases, lines) if options.voice_bundle else None
    worker = Worker(settings, recognizer, leases, lines, owner=str(os.getpid()), replies=replies)
    print(json.dumps({"ready": os.getpid()}), flush=True)
    while not stopped:
        worker.turn()
        lines.heard(worker)
    worker.hand_over()


if __name__ == "__main__":
    main()
