"""PutMedia: a signed upload whose body grows while it is sent, and whose acknowledgements come back meanwhile.

upload = PutMedia.open("replies", start_s=time.time())
acks = upload.send(writer.block(1, 0, frame))      # never waits, unless far too much is unsent
acks = upload.finish(writer.finish(), wait_s=5)    # until the last fragment is acknowledged
"""

from __future__ import annotations

import json
import time
from typing import Any
from urllib.parse import urlsplit

import h11
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.httpsession import get_cert_path
from botocore.session import get_session
from speech.errors import Transient
from speech.media.acks import Ack, AckError, AckParser

from cloud.clients import client, credentials
from cloud.video import endpoints
from cloud.video.wire import Wire

SERVICE = "kinesisvideo"
MOST_UNSENT = 1 << 20  # bytes; the other side takes nothing any more


class PutMedia:
    """One upload to one stream."""

    def __init__(self, wire: Wire, url: str, headers: dict[str, str], stream: str) -> None:
        """Use `open`."""
        self._wire, self._stream = wire, stream
        self._http, self._acks = h11.Connection(h11.CLIENT), AckParser()
        self._status, self._refusal, self._code = 0, bytearray(), ""
        self.over = False  # the service has ended it, or the connection is lost
        self._early: list[Ack] = []  # came before anybody asked
        request = h11.Request(method="POST", target=urlsplit(url).path, headers=list(headers.items()))
        self._early = self._exchange(self._http.send(request), 0.0)

    @classmethod
    def open(cls, stream: str, *, start_s: float | None) -> PutMedia:
        """Begin an upload to a stream, given by name or ARN.

        `start_s` is the wall clock at timecode 0; None: timecodes are milliseconds since 1970.
        Raises Transient, or endpoints.NoStream or Forbidden. A refusal by the service itself comes with the first acks.
        """
        url = endpoints.data_endpoint("PUT_MEDIA", stream) + "/putMedia"
        headers = {
            f"x-amzn-stream-{'arn' if stream.startswith('arn:') else 'name'}": stream,
            "x-amzn-fragment-timecode-type": "ABSOLUTE" if start_s is None else "RELATIVE",
            "x-amzn-producer-start-timestamp": f"{time.time() if start_s is None else start_s:.3f}",
            "x-amzn-fragment-acknowledgment-required": "1",
        }
        signed = _sign(url, headers)
        return cls(Wire(url, _authorities()), url, signed | {"Transfer-Encoding": "chunked"}, stream)

    def send(self, data: bytes, wait_s: float = 0.0) -> list[Ack]:
        """Send these bytes; acknowledgements that have come meanwhile, waiting at most `wait_s` for more to happen.

        An AckError among them ends the upload. Raises Transient when the connection is lost, as `open` does when
        the service refuses.
        """
        early, self._early = self._early, []
        if early:
            return early + (self.send(data) if data and not self.over else [])
        if self.over:
            raise Transient(f"the upload to {self._stream} is over: open another")
        if self._wire.unsent > MOST_UNSENT:
            self.close()
            raise Transient(f"the service has not taken {MOST_UNSENT} bytes of the upload to {self._stream}")
        return self._exchange(self._http.send(h11.Data(data=data)) if data else b"", wait_s)

    def poll(self, wait_s: float = 0.0) -> list[Ack]:
        """Acknowledgements that have come."""
        return [] if self.over and not self._early else self.send(b"", wait_s)

    def finish(self, data: bytes = b"", wait_s: float = 5.0) -> list[Ack]:
        """Send the last bytes and end the body; all acknowledgements until the service closes, or `wait_s` is over."""
        acks, ends_s = self.send(data), time.monotonic() + wait_s
        if not self.over:
            acks += self._exchange(self._http.send(h11.EndOfMessage()), 0.0)
        while not self.over and (left_s := ends_s - time.monotonic()) > 0:
            acks += self._exchange(b"", left_s)
        self.close()
        return acks

    def close(self) -> None:
        """End the connection at once; a fragment that is not whole is lost."""
        self.over = True
        self._wire.close()

    def _exchange(self, data: bytes, wait_s: float) -> list[Ack]:
        try:
            came = self._wire.exchange(data, wait_s)
        except Transient:
            self.over = True
            raise
        if came or self._wire.ended:
            self._http.receive_data(came)
        if came and self._wire.ended:
            self._http.receive_data(b"")
        acks: list[Ack] = []
        try:
            while not self.over and (event := self._http.next_event()) not in (h11.NEED_DATA, h11.PAUSED):
                acks += self._take(event)
        except h11.RemoteProtocolError as error:
            self.close()
            raise Transient(f"the upload to {self._stream} broke off: {error}") from error
        if any(isinstance(ack, AckError) for ack in acks):
            self.close()
        return acks

    def _take(self, event: Any) -> list[Ack]:
        if isinstance(event, h11.Response):
            self._status = event.status_code
            self._code = dict(event.headers).get(b"x-amzn-errortype", b"").decode().partition(":")[0]
        elif isinstance(event, h11.Data):
            if self._status == 200:
                return self._acks.receive(event.data)
            self._refusal += event.data
        elif isinstance(event, h11.EndOfMessage | h11.ConnectionClosed):
            self.close()
            if self._status == 200:
                return self._acks.finish()
            self._refused()
        return []

    def _refused(self) -> None:
        """Raise what a status other than 200 means."""
        if not self._status:
            raise Transient(f"the upload to {self._stream} was closed without an answer")
        try:
            told = json.loads(bytes(self._refusal))
            text = str(told.get("Message") or told.get("message") or "")
        except (ValueError, AttributeError):
            text = ""
        endpoints.forget()
        raise endpoints.refused(self._code or f"HTTP status {self._status}", text, "PutMedia", self._stream)


def _sign(url: str, headers: dict[str, str]) -> dict[str, str]:
    """`headers` with a signature of now: like the producer SDK, over an empty body, as this one is still to come."""
    keys = credentials()
    if keys is None:
        raise endpoints.Forbidden("there are no AWS credentials to sign PutMedia with")
    request = AWSRequest("POST", url, headers, b"")
    SigV4Auth(keys.get_frozen_credentials(), SERVICE, client(SERVICE).meta.region_name).add_auth(request)
    return {"host": urlsplit(url).netloc, **dict(request.headers.items())}


def _authorities() -> str:
    """The file of certificate authorities that boto3 trusts: AWS_CA_BUNDLE, or its own."""
    return str(get_session().get_config_variable("ca_bundle") or get_cert_path(True))
