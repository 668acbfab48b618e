"""A progress bar for anything a person waits for; on a pipe or in a log it prints only its last line."""

from __future__ import annotations

import sys
from typing import TextIO

WIDTH = 28  # characters of the bar itself


class Bar:
    """`label [#####.....] 3/8 note`, redrawn in place. Use as a context manager; `say` prints a line above it."""

    def __init__(self, label: str, total: int, out: TextIO | None = None) -> None:
        self.label, self.total, self.done, self.note = label, max(total, 1), 0, ""
        self._out = out or sys.stdout
        self._live = self._out.isatty()

    def __enter__(self) -> Bar:
        self._draw()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        self._clear()
        if kind is None:
            self._out.write(self.text() + "\n")
        self._out.flush()

    def step(self, note: str = "", by: int = 1) -> None:
        """Count `by` more and show `note` beside the bar."""
        self.done, self.note = min(self.done + by, self.total), note
        self._draw()

    def say(self, line: str) -> None:
        """Print `line` above the bar."""
        self._clear()
        self._out.write(line + "\n")
        self._draw()

    def text(self) -> str:
        """The bar as it stands, without colours: what a log sees."""
        filled = WIDTH * self.done // self.total
        bar = "#" * filled + "." * (WIDTH - filled)
        return f"{self.label:<12} [{bar}] {self.done}/{self.total} {self.note}".rstrip()

    def _draw(self) -> None:
        if self._live:
            self._out.write(f"\r\x1b[2K{self.text()[:110]}")
        self._out.flush()

    def _clear(self) -> None:
        if self._live:
            self._out.write("\r\x1b[2K")
