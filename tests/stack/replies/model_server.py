"""A language model's server on 127.0.0.1 that does what a test tells it: answer, be slow, break off, talk nonsense."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Act = Callable[["Line"], None]


class Line:
    """One request being answered."""

    def __init__(self, handler: BaseHTTPRequestHandler, closing: threading.Event) -> None:
        self._handler, self.closing = handler, closing
        self.gone = False  # the client has hung up

    def head(self, status: int = 200, kind: str = "text/event-stream", **headers: str) -> None:
        self._handler.send_response(status)
        for name, value in {"Content-Type": kind, "Transfer-Encoding": "chunked", **headers}.items():
            self._handler.send_header(name.replace("_", "-"), value)
        self._handler.end_headers()

    def send(self, data: bytes | str) -> None:
        data = data.encode() if isinstance(data, str) else data
        try:
            self._handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self._handler.wfile.flush()
        except OSError:
            self.gone = True

    def end(self) -> None:
        self._handler.wfile.write(b"0\r\n\r\n")

    def whole(self, status: int, body: str, kind: str = "application/json") -> None:
        self.head(status, kind)
        self.send(body)
        self.end()

    def hang(self, ping: str = "") -> None:
        """Say no more until the client has gone or the test is over."""
        while not self.gone and not self.closing.wait(0.02):
            if ping:
                self.send(ping)


class ModelServer:
    """`with ModelServer(act, ...) as server`: each request meets the next act, and the last one from then on."""

    def __init__(self, *acts: Act) -> None:
        self.acts, self.requests, self.headers = list(acts), list[Any](), list[dict[str, str]]()
        self.paths: list[str] = []
        self.peers: set[tuple[str, int]] = set()
        self.asked = threading.Event()
        self._closing = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
                outer.requests.append(json.loads(body))
                outer.headers.append({name.lower(): value for name, value in self.headers.items()})
                outer.paths.append(self.path)
                outer.peers.add(self.client_address)
                outer.asked.set()
                act = outer.acts.pop(0) if len(outer.acts) > 1 else outer.acts[0]
                act(Line(self, outer._closing))

            def log_message(self, *arguments: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def delta(text: str | None, **more: Any) -> str:
    """An event with a piece of the answer."""
    choice = {"index": 0, "delta": {} if text is None else {"content": text}, "finish_reason": None, **more}
    return f"data: {json.dumps({'object': 'chat.completion.chunk', 'choices': [choice]})}\n\n"


def answers(*pieces: str, done: bool = True) -> Act:
    """The whole protocol: a role first, pieces, the reason of the end, a count of tokens without choices, [DONE]."""

    def act(line: Line) -> None:
        line.head()
        line.send(f"data: {json.dumps({'choices': [{'delta': {'role': 'assistant', 'content': None}}]})}\n\n")
        for piece in pieces:
            line.send(delta(piece))
        line.send(delta(None, finish_reason="stop"))
        line.send('data: {"choices": [], "usage": {"total_tokens": 7}}\n\n')
        if done:
            line.send("data: [DONE]\n\n")
        line.end()

    return act


def refuses(status: int, body: str = '{"error": {"message": "no"}}') -> Act:
    return lambda line: line.whole(status, body)


def breaks_off(*pieces: str) -> Act:
    """The connection ends in the middle."""

    def act(line: Line) -> None:
        line.head()
        for piece in pieces:
            line.send(delta(piece))
        line._handler.close_connection = True
        line._handler.connection.shutdown(2)

    return act


def stalls(*pieces: str, ping: str = "") -> Act:
    """Pieces, and then nothing but comments that keep the connection alive."""

    def act(line: Line) -> None:
        line.head()
        for piece in pieces:
            line.send(delta(piece))
        line.hang(ping)

    return act


def raw(*parts: str, kind: str = "text/event-stream") -> Act:
    def act(line: Line) -> None:
        line.head(200, kind)
        for part in parts:
            line.send(part)
        line.end()

    return act
