"""An answer that is given up while it waits for more."""

from __future__ import annotations

import threading

from cloud.replies.responder import Answer


def cancelled_after_a_piece(answer: Answer) -> list[str]:
    """All that was read of an answer that another thread cancels once something of it has come."""
    found, came = list[str](), threading.Event()

    def read() -> None:
        for piece in answer:
            found.append(piece)
            came.set()

    reader = threading.Thread(target=read)
    reader.start()
    came.wait()
    answer.cancel()
    reader.join()
    return found
