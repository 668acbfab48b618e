"""What a client of contexts sends, and what it makes of what it is told."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable
from typing import Any

from cloud import engines

from tests.functions.socket.door import Door

TEXT = "The cat is here, and the dog is in the house. Hello world! Can it stop, or does it go on to the end? It does."


def opening(context: str = "c", **values: Any) -> dict[str, Any]:
    """An open."""
    return {"type": "open", "context": context} | values


def text(sequence: int, said: str, context: str = "c") -> dict[str, Any]:
    """A text."""
    return {"type": "text", "context": context, "sequence": sequence, "text": said}


def end(sequence: int, context: str = "c", kind: str = "finish") -> dict[str, Any]:
    """A finish, or a flush."""
    return {"type": kind, "context": context, "sequence": sequence}


def cancel(context: str = "c", **values: Any) -> dict[str, Any]:
    """A cancel."""
    return {"type": "cancel", "context": context} | values


def tokens(said: str, size: int = 5, context: str = "c") -> list[dict[str, Any]]:
    """A text as a model writes it, and its end."""
    pieces = [said[at : at + size] for at in range(0, len(said), size)]
    return [*[text(number, piece, context) for number, piece in enumerate(pieces)], end(len(pieces), context)]


def told(records: Iterable[dict[str, Any]], context: str = "c") -> list[dict[str, Any]]:
    """The records of a context in order of number, each once; those that came twice must say the same."""
    numbered: dict[int, dict[str, Any]] = {}
    for record in records:
        if record.get("context") == context and "number" in record:
            bare = {name: value for name, value in record.items() if name not in ("received", "repeat")}
            assert numbered.setdefault(record["number"], bare) == bare
    assert sorted(numbered) == list(range(len(numbered))), "a record is missing"
    return [numbered[number] for number in sorted(numbered)]


def audio(records: Iterable[dict[str, Any]], context: str = "c") -> bytes:
    """The sound of a context."""
    return b"".join(b64decode(record["audio"]) for record in told(records, context) if record["type"] == "chunk")


def words(records: Iterable[dict[str, Any]], context: str = "c") -> list[dict[str, Any]]:
    """Its words with their times."""
    return [word for record in told(records, context) if record["type"] == "timestamps" for word in record["words"]]


def in_one_piece(door: Door, said: str, **options: Any) -> tuple[bytes, list[dict[str, Any]]]:
    """Sound and words as the synthesiser makes them."""
    speech = engines.synthesizer(door.app.settings.models_dir, "hum").stream(**options)
    chunks = [*speech.receive(said), *speech.finish()]
    spans = [span for chunk in chunks for span in chunk.spans if span.type == "word"]
    shown = [
        {"text": said[s.start : s.end], "start_s": round(s.start_s, 3), "end_s": round(s.end_s or 0, 3)}
        | {"start": s.start, "end": s.end}
        for s in spans
    ]
    return b"".join(chunk.audio for chunk in chunks), shown
