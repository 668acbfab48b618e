"""`python -m local call FILE`: a recorded call, live: through a video stream to a worker, answered, and shown."""

from __future__ import annotations

import argparse
import json
import queue
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local.calls.heard import Heard, middle
from local.calls.processes import Workers
from local.calls.services import CALL, REPLIES, Events, heard_s, holder, read_json, services
from local.state import LocalError

CLEAR = "\r\033[K" if sys.stdout.isatty() else ""  # the line with the partial
RESPONDERS = ("echo", "none")
PAUSE_S = 0.05  # between two looks at what was told
Moments = queue.Queue[tuple[float, float] | Exception]  # (when the call began, how many of its seconds have been)


@dataclass(frozen=True)
class Asked:
    """What the command was asked to do."""

    file: Path
    bundle: str | None = None
    voice_bundle: str | None = None
    respond: str = "echo"  # none, echo, or the URL of an OpenAI-compatible endpoint
    model: str = ""  # of that endpoint
    speed: float = 1.0
    kill: bool = False
    quiet: bool = False  # only JSON
    wav: Path | None = None  # where to write what was said


def add(words: Any) -> None:
    """The word `call` and its options."""
    about = "play a recording as a live call, watch its transcript appear, hear the replies"
    word = words.add_parser("call", help=about)
    word.add_argument("file", type=Path, metavar="FILE")
    word.add_argument(
        "--kill", action="store_true", help="kill the worker in the middle; another one goes on with the call"
    )
    word.add_argument(
        "--page", action="store_true", help="as a call of the stack that is up (`make run`), whose page shows it"
    )
    word.add_argument("--json", action="store_true", help="only the final transcript and every latency, for programs")
    word.add_argument("--speed", type=float, default=1.0, metavar="N", help="times as fast as it was spoken")
    word.add_argument("--bundle", metavar="DIR", help="the model; as a rule the one in models/bundles")
    word.add_argument("--voice-bundle", metavar="DIR", help="the voice; as a rule the one in models/bundles")
    word.add_argument(
        "--respond",
        default="echo",
        metavar="WHO",
        help="echo (default), none, or the URL of an OpenAI-compatible endpoint, as http://127.0.0.1:11434/v1",
    )
    word.add_argument("--model", default="", metavar="NAME", help="the model that the endpoint is asked for")
    word.add_argument("--wav", type=Path, metavar="FILE", help="where to write both sides (default: .local/call.wav)")
    word.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Play, show, and say how late everything was."""
    if options.page:
        from local.calls import on_page

        return on_page.run(options)
    asked = Asked(
        options.file,
        options.bundle,
        options.voice_bundle,
        options.respond,
        options.model,
        options.speed,
        options.kill,
        options.json,
        options.wav or options.state / "call.wav",
    )
    heard, workers = call(asked)
    if asked.quiet:
        print(json.dumps(heard.as_json() | {"wav": str(asked.wav) if heard.replies else None, "workers": workers}))
    else:
        print(summary(heard, workers, asked))
    return 0


def call(asked: Asked) -> tuple[Heard, int]:
    """Play the recording as a call, to its end; what was heard of it, and how many workers there were."""
    from speech.cli import bundles
    from speech.errors import BadInput

    from local.calls import caller
    from local.calls.listener import Listener

    try:
        samples, rate = caller.read(asked.file)
        bundle = bundles.find(asked.bundle)
        voice = None if asked.respond == "none" else bundles.find(asked.voice_bundle, bundles.SYNTHESIS)
    except (BadInput, OSError) as error:
        raise LocalError(str(error)) from None
    if asked.respond not in RESPONDERS and not asked.respond.startswith(("http://", "https://")):
        raise LocalError(f"--respond {asked.respond}: expected echo, none or a URL")
    heard = Heard(asked.speed, voice is not None)
    with services() as folder, Workers(folder, bundle, voice, asked.respond, asked.model) as workers:
        workers.start(2 if asked.kill else 1)
        moments, hang_up = Moments(), threading.Event()

        def play() -> None:
            try:
                caller.play(CALL, CALL, samples, rate, asked.speed, hang_up, lambda *moment: moments.put(moment))
            except Exception as error:
                moments.put(error)

        with Listener(REPLIES) as listener:
            threading.Thread(target=play, daemon=True).start()
            follow(heard, workers, moments, hang_up, len(samples) / rate, asked)
        if asked.wav and heard.replies:
            spoken = samples if asked.speed == 1 else samples[:0]
            listener.write(asked.wav, spoken, rate, heard.began_s)
    return heard, workers.started


def follow(
    heard: Heard, workers: Workers, moments: Moments, hang_up: threading.Event, spoken_s: float, asked: Asked
) -> None:
    """Show what is told until the call has ended; kill the worker in its middle where that was asked for."""
    at_s, kill_s, events = 0.0, spoken_s / 2 if asked.kill else None, Events()
    while heard.transcript is None:
        while not moments.empty():
            moment = moments.get()
            if isinstance(moment, Exception):
                raise LocalError(f"the call cannot be sent: {moment}")
            heard.began_s, at_s = moment
        if kill_s is not None and at_s >= kill_s and (pid := holder()):
            kill_s = None
            workers.kill(pid)
            if not asked.quiet:
                print(f"{CLEAR}{at_s:7.1f} s  the worker is killed; another one takes the call")
        for event in events.new():
            for record in heard.take(event):
                if not asked.quiet:
                    show(record)
            if event["type"] == "call_failed":
                raise LocalError(f"the call failed: {event['reason']}; {', '.join(event.get('warnings', ()))}")
            if event["type"] == "call_completed":
                heard.transcript = read_json(event["outputs"]["json"])
        workers.check()
        time.sleep(PAUSE_S)
        if at_s >= spoken_s:
            heard.heard_s = heard_s()
        if heard.may_hang_up(at_s, spoken_s):
            hang_up.set()


def show(record: dict[str, Any]) -> None:
    """Partials on the last line of the terminal, finals and replies above."""
    late = f"{(record['late_ms'] or 0) / 1000:.2f} s"
    if record["type"] == "final":
        head = f"{CLEAR}{record['start_s']:7.1f} s  {record['speaker']:<9}"
        print(f"{head} {record['text']}   ({late} after it was said)")
    elif record["type"] == "reply_end":
        text = record["text"] or "(nothing was heard)"
        ended = " -- interrupted" if record["interrupted"] else f" -- {record['failed']}" if record["failed"] else ""
        print(f"{CLEAR}           {'reply':<9} {text}{ended}   (begun {late} after the last word)")
    elif record["text"] and sys.stdout.isatty():
        print(f"{CLEAR}           {record['speaker']:<9} {record['text'][-80:]}  {late}", end="", flush=True)


def shown(path: Path | None) -> str:
    """A path as short as it can be said from here."""
    return str(path.relative_to(Path.cwd())) if path and path.is_relative_to(Path.cwd()) else str(path)


def summary(heard: Heard, workers: int, asked: Asked) -> str:
    """How it went."""
    by = f" by {workers} workers, one after the other" if workers > 1 else ""
    lines = [
        f"\n{len(heard.final_ms)} finals{by}; after they were said: {middle(heard.final_ms)}",
        f"{len(heard.partial_ms)} partials; after their last sound was sent: {middle(heard.partial_ms)}",
    ]
    begun = [reply["first_audio_ms"] for reply in heard.replies.values() if reply["first_audio_ms"] is not None]
    if begun:
        lines.append(
            f"{len(begun)} replies; from the caller's last word to the first sound: {middle(begun)} "
            "(0.8 s of that are the silence that ends a turn)"
        )
        lines.append(f"both sides of the call, the caller left, the replies right: {shown(asked.wav)}")
    return "\n".join(lines)
