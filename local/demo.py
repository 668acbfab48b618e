"""The demonstration of `make run`: sample recordings become transcripts, and one is a live call that is answered."""

from __future__ import annotations

import json
import textwrap
from datetime import UTC, datetime
from pathlib import Path

from local import recordings
from local.calls import command
from local.progress import Bar
from local.recordings import Result
from local.stack import Stack
from local.state import ROOT, LocalError

CALL = "telephone-prompt-16k.wav"  # a short one
SAMPLES = ROOT / "events" / "audio"
PATIENCE_S = 300.0  # seconds without news before giving up; on a busy machine a cold start may take one or two minutes


def samples() -> list[Path]:
    """The sample recordings, in order of name."""
    return sorted(path for path in SAMPLES.iterdir() if path.suffix not in (".json", ".md", ".txt"))


def run(stack: Stack, paths: list[Path]) -> bool:
    """Drop the recordings, print each result as it arrives; whether all of them are as they should be."""
    since = now()
    with Bar("uploading", len(paths)) as bar:
        dropped = []
        for path in paths:
            bar.step(path.name, by=0)
            dropped.append(recordings.drop(stack, path))
            bar.step(path.name)
    complaints = []
    with Bar("transcribing", len(paths)) as bar:
        for result in recordings.results(stack, dropped, since, PATIENCE_S):
            bar.say(described(result))
            complaints += complaint(result)
            bar.step()
    for line in complaints:
        print(f"not as it should be: {line}")
    return not complaints


def call(folder: Path) -> bool:
    """Play a sample as a live call into a worker of its own, which echoes it; whether it was answered."""
    print(f"\na live call: {CALL}, played in real time and answered by an echo", flush=True)
    asked = command.Asked(SAMPLES / CALL, wav=folder / "call.wav")
    heard, workers = command.call(asked)
    print(command.summary(heard, workers, asked))
    good = any(reply.get("text") for reply in heard.replies.values())
    if not good:
        print("not as it should be: the call was not answered")
    return good


def now() -> str:
    """The time as the job table writes it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def described(result: Result) -> str:
    """One result as a person reads it: name, times, and the words indented below."""
    rtf = "" if result.rtf is None else f"   RTF {result.rtf:.3f}"
    head = f"{result.dropped.path.name:<28} {result.audio_s:6.1f} s   {result.latency_s:5.1f} s after the upload{rtf}"
    body = f"failed: {result.failed}" if result.failed else result.text or "(no speech)"
    lines = [line for part in shortened(body).splitlines() for line in textwrap.wrap(part, 100)]
    return "\n    ".join([head, *lines])


def shortened(text: str, limit: int = 600) -> str:
    """The beginning of a long transcript."""
    return text if len(text) <= limit else text[:limit].rsplit(" ", 1)[0] + " ..."


def complaint(result: Result) -> list[str]:
    """What is wrong with a sample's result, leniently: speech must give words, silence none, and nothing may fail."""
    if result.failed:
        return [f"{result.dropped.path.name}: {result.failed}"]
    wanted = expected_words(result.dropped.path)
    if wanted is None or bool(result.text) == bool(wanted):
        return []
    return [f"{result.dropped.path.name}: {'no words came' if wanted else f'words came of silence: {result.text!r}'}"]


def expected_words(path: Path) -> str | None:
    """What is said in a sample recording, by answers.json beside it; None where nobody wrote it down."""
    answers = path.parent / "answers.json"
    if not answers.is_file():
        return None
    entry = json.loads(answers.read_text()).get(path.name)
    text = entry.get("text", "") if isinstance(entry, dict) else entry
    return None if text is None else str(text)


def where(stack: Stack) -> str:
    """Where things are, and how to use them."""
    bucket, out = stack.outputs["InputBucket"], stack.outputs["OutputBucket"]
    rows = [
        ("the page", f"{stack.page_url}  (open it in a browser)"),
        ("endpoint", f"{stack.endpoint}  (any AWS client; region {stack.state.region}, credentials test / test)"),
        ("recordings go to", f"s3://{bucket}/{stack.input_prefix}"),
        ("transcripts are in", f"s3://{out}/{stack.outputs.get('OutputPrefix', '')}"),
        ("drop your own", ".venv/bin/python -m local drop FILE"),
        ("the same by AWS CLI", f"aws --endpoint-url {stack.endpoint} s3 cp FILE s3://{bucket}/{stack.input_prefix}"),
        *api(stack),
        ("everything there is", ".venv/bin/python -m local status"),
        ("log", shown(Path(stack.state.log))),
    ]
    return "\n".join(f"  {name:<20} {value}" for name, value in rows)


def api(stack: Stack) -> list[tuple[str, str]]:
    """Where the REST API is, and how to call it."""
    rows = [("REST API", f"{stack.api_url}  (in a browser: {stack.outputs['ApiUrl']}/docs)")]
    if not stack.api_key:
        return [*rows, ("its key", "none: callers sign their requests")]
    curl = f"curl -H 'Authorization: Bearer {stack.api_key}' -F model=whisper-1 -F file=@FILE \\"
    return [*rows, ("its key", stack.api_key), ("try it", curl), ("", f"    {stack.api_url}/audio/transcriptions")]


def shown(path: Path) -> str:
    """A path as short as it can be said from here."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def require_samples() -> list[Path]:
    """The sample recordings, or an error that says where they should be."""
    found = samples() if SAMPLES.is_dir() else []
    if not found:
        raise LocalError(f"no sample recordings in {shown(SAMPLES)}")
    return found
