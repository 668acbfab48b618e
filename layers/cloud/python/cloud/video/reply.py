"""Speech into a video stream in real time: what is synthesized at once leaves frame by frame, and can be stopped.

reply = Reply("replies", mulaw_track(1))
reply.say(audio)                 # any amount, as it is synthesized
reply.prepare()                  # soon there will be something to say: the first frame need not wait for a connection
wait_s = reply.step()            # sends what is due; call it again after so long, or when there is more
reply.end()                      # the utterance is over: its last fragment is ended and acknowledged at once
heard_ms = reply.stop()          # barge-in: how much of it has left
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from speech.errors import Transient
from speech.media.acks import Ack, AckError
from speech.media.events import Track
from speech.media.formats import audio_format
from speech.media.writer import PutMediaWriter

from cloud.video.putmedia import PutMedia

_SILENCE = {"pcm_s16le": b"\0", "pcm_mulaw": b"\xff", "pcm_alaw": b"\xd5"}


class Upload(Protocol):
    """What a reply needs of an upload; see `putmedia.PutMedia`."""

    over: bool

    def send(self, data: bytes) -> list[Ack]:
        """Send bytes."""
        ...

    def finish(self, data: bytes = b"", wait_s: float = 5.0) -> list[Ack]:
        """Send the last bytes and wait for the last acknowledgements."""
        ...


def _open(stream: str, start_s: float) -> Upload:
    return PutMedia.open(stream, start_s=start_s)


@dataclass(slots=True)
class Reply:
    """One stream of replies; its upload is opened when there is something to say, and again when it was lost."""

    stream: str  # name or ARN
    track: Track
    frame_ms: int = 20
    lead_ms: int = 60  # how early frames leave: more outlives a late `step`, less stops sooner
    clock: Callable[[], float] = time.time
    open: Callable[[str, float], Upload] = _open
    tags: Mapping[str, str] = field(default_factory=dict)  # of each fragment
    _upload: Upload | None = field(init=False, default=None)
    _writer: PutMediaWriter | None = field(init=False, default=None)
    _opened_s: float = field(init=False, default=0.0)
    _waiting: bytearray = field(init=False, default_factory=bytearray)
    _ended: bool = field(init=False, default=True)  # no more of this utterance is to come
    _unfinished: bool = field(init=False, default=False)  # its last fragment is open
    _next_s: float = field(init=False, default=0.0)  # when the next frame begins
    _sent_ms: int = field(init=False, default=0)  # of this utterance
    refusals: list[AckError] = field(init=False, default_factory=list)  # what the service has said no to

    @property
    def sent_ms(self) -> int:
        """How much of the utterance has left."""
        return self._sent_ms

    @property
    def ahead_ms(self) -> int:
        """How much of that nobody has heard yet: frames leave before they are due."""
        return min(self._sent_ms, round(1000 * max(0.0, self._next_s - self.clock())))

    def prepare(self) -> None:
        """Open the upload, unless one is open. Raises Transient, or endpoints.NoStream or Forbidden."""
        if self._upload and not self._upload.over:
            with suppress(Transient):
                self._deliver(b"")  # an upload that the service has ended meanwhile is found out
        if self._upload is None or self._upload.over:
            self._connect(self.clock())

    def say(self, audio: bytes) -> None:
        """More of the utterance, encoded as the track says."""
        if self._ended:
            self._ended, self._sent_ms = False, 0
        self._waiting += audio

    def end(self) -> None:
        """The utterance is complete."""
        kind = audio_format(self.track)
        frame = round(self.frame_ms * kind.rate / 1000) * kind.frame_bytes
        self._waiting += _SILENCE[kind.encoding] * (-len(self._waiting) % frame)
        self._ended = True

    def step(self) -> float | None:
        """Send what is due. Seconds until there is more to send; None when nothing waits. Raises Transient.

        After Transient the fragment that was on its way is lost, and the next call goes on in a new upload.
        """
        kind = audio_format(self.track)
        frame = round(self.frame_ms * kind.rate / 1000) * kind.frame_bytes
        now_s = self.clock()
        if not self._sent_ms or self._next_s < now_s - self.lead_ms / 1000:
            self._next_s = max(self._next_s, now_s)  # the first frame, or the synthesizer was late
        while len(self._waiting) >= frame and self._next_s <= now_s + self.lead_ms / 1000:
            self._send(bytes(self._waiting[:frame]))
            del self._waiting[:frame]
            self._next_s += self.frame_ms / 1000
            self._sent_ms += self.frame_ms
        if self._ended and not self._waiting and self._unfinished:
            self._finish_fragment()
        self._poll()
        return max(0.0, self._next_s - self.lead_ms / 1000 - now_s) if len(self._waiting) >= frame else None

    def stop(self) -> int:
        """Say no more of this utterance. Milliseconds of it that have been heard by now."""
        self._waiting.clear()
        self._ended = True
        if self._unfinished:
            self._finish_fragment()
        return self._sent_ms - self.ahead_ms

    def redirect(self, open: Callable[[str, float], Upload]) -> None:
        """From now on uploads are opened in another way; the one that is open is left as it is."""
        self.open, self._upload, self._unfinished = open, None, False

    def close(self, wait_s: float = 5.0) -> None:
        """Say no more at all; waits for the service to acknowledge what was said."""
        self.stop()
        upload, self._upload = self._upload, None
        if upload and not upload.over:
            self._note(upload.finish(wait_s=wait_s))

    def _send(self, data: bytes) -> None:
        if self._upload is None or self._upload.over:
            self._connect(self._next_s)
        assert self._writer is not None
        at_ms = round(1000 * (self._next_s - self._opened_s))
        self._deliver(self._writer.block(self.track.number, at_ms, data, self.tags))
        self._unfinished = True

    def _connect(self, start_s: float) -> None:
        self._upload, self._writer = self.open(self.stream, start_s), PutMediaWriter([self.track])
        self._opened_s, self._unfinished = start_s, False

    def _finish_fragment(self) -> None:
        self._unfinished = False
        if self._upload and self._writer and not self._upload.over:
            self._deliver(self._writer.finish(self.tags))

    def _poll(self) -> None:
        if self._upload and not self._upload.over:
            self._deliver(b"")

    def _deliver(self, data: bytes) -> None:
        assert self._upload is not None
        try:
            self._note(self._upload.send(data))
        except Transient:
            self._upload, self._unfinished = None, False
            raise

    def _note(self, acks: list[Ack]) -> None:
        self.refusals += [ack for ack in acks if isinstance(ack, AckError) and not ack.retry]
