"""Says what the caller said: for trying things out, and for measuring everything that is not the responder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cloud.replies.responder import Question


@dataclass(frozen=True, slots=True)
class EchoAnswer:
    """One text, there at once."""

    text: str

    def __iter__(self) -> Iterator[str]:
        """The text."""
        yield self.text

    def cancel(self) -> None:
        """There is nothing to be given up."""


class Echo:
    """Answers with the caller's last turn."""

    def answer(self, question: Question) -> EchoAnswer:
        """The words of the last turn."""
        return EchoAnswer(question.turns[-1].text if question.turns else "")
