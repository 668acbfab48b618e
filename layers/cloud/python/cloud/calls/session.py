"""One call in work: what its stream brings goes to its tracks; and the step that advances the tracks of all calls."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from speech.media.call_events import Audio, AudioTrack, FragmentDone, Position
from speech.media.kvs import CONTACT, MIME_TYPE
from speech.text.transcript import Transcript

from cloud.calls.call import Call
from cloud.calls.checkpoint import Checkpoint, SavedTrack
from cloud.calls.track import Track
from cloud.live.told import Teller, Told
from cloud.video.consumer import Consumer, ConsumerEvent, Patience

if TYPE_CHECKING:
    from speech.asr.recognizer import Recognizer


@dataclass(slots=True)
class Session:
    """A call; made by `begin` or `resume`."""

    call: Call
    recognizer: Recognizer
    position: Position = field(default_factory=Position)  # behind everything that was taken
    origin_ms: int | None = None  # the call's zero on the producer's clock: its first block
    tracks: dict[int, Track] = field(default_factory=dict)
    contact_id: str | None = None  # of Amazon Connect: given, or that of the first fragment that has one
    mime_type: str = ""  # of the tracks, as the last fragment said
    unheard: dict[int, str] = field(default_factory=dict)  # tracks that cannot be recognised, and why

    @classmethod
    def begin(cls, call: Call, recognizer: Recognizer) -> Session:
        """A call of which nothing was heard."""
        return cls(call, recognizer, contact_id=call.contact_id, mime_type=call.mime_type)

    @classmethod
    def resume(cls, call: Call, recognizer: Recognizer, saved: Checkpoint) -> Session:
        """From where another worker put it down. Raises BadSnapshot if that was done with another bundle."""
        tracks = {
            number: Track(
                track.channel,
                track.speaker,
                track.format,
                track.teller,
                None if track.snapshot is None else recognizer.resume(track.snapshot),
                track.end_ms,
                list(track.finals),
                track.numbered,
            )
            for number, track in saved.tracks.items()
        }
        return cls(
            call,
            recognizer,
            saved.position,
            saved.origin_ms,
            tracks,
            saved.contact_id,
            saved.mime_type or call.mime_type,
        )

    def consumer(self, patience: Patience) -> Consumer:
        """Reads the call's stream from where this session stands."""
        return Consumer(
            self.call.stream,
            self.call.start,
            self.position,
            contact_id=self.contact_id,
            mime_type=self.mime_type,
            patience=patience,
        )

    def take(self, events: Iterable[ConsumerEvent], position: Position) -> None:
        """A batch of the consumer, and its position behind it."""
        for event in events:
            if isinstance(event, AudioTrack):
                self._declare(event)
            elif isinstance(event, Audio) and (track := self.tracks.get(event.track)):
                if self.origin_ms is None:
                    self.origin_ms = event.at_ms
                track.hear(event.at_ms - self.origin_ms, event.data)
            elif isinstance(event, FragmentDone):
                self.mime_type = event.tags.get(MIME_TYPE, self.mime_type)
                self.contact_id = self.contact_id or event.tags.get(CONTACT)
        self.position = position

    def _declare(self, event: AudioTrack) -> None:
        number = event.track.number
        if event.format is None:
            self.unheard[number] = event.reason
            self.tracks.pop(number, None)
        elif number in self.tracks:
            self.tracks[number].change_format(event.format)
        else:
            channel = len(self.tracks)
            self.tracks[number] = Track(channel, event.speaker, event.format, Teller(channel))

    def checkpoint(self) -> Checkpoint:
        """For `resume` anywhere; only when nothing waits, as after `step`."""
        assert not any(track.waiting for track in self.tracks.values())
        tracks = {
            number: SavedTrack(
                track.channel,
                track.speaker,
                track.format,
                track.teller,
                track.stream.snapshot() if track.stream else None,
                track.end_ms,
                tuple(track.finals),
                track.numbered,
            )
            for number, track in self.tracks.items()
        }
        return Checkpoint(self.position, self.origin_ms, tracks, self.contact_id, self.mime_type)

    def finish(self) -> list[Told]:
        """The call is over: what its tracks still owed."""
        return [record for track in self.tracks.values() for record in track.finish()]

    def transcript(self) -> Transcript:
        """The finals so far, a channel for each track, in the call's clock."""
        tracks = sorted(self.tracks.values(), key=lambda track: track.channel)
        duration_s = max((track.end_ms or 0.0 for track in tracks), default=0.0) / 1000
        warnings = tuple(f"track {number} was not heard: {reason}" for number, reason in self.unheard.items())
        finals = tuple(tuple(track.finals) for track in tracks)
        return Transcript(duration_s, finals, warnings, self.recognizer.language)


def step(sessions: Iterable[Session]) -> dict[str, list[Told]]:
    """Everything that waits in all calls, in common runs of the network; records by call id."""
    sessions = list(sessions)
    told: dict[str, list[Told]] = {session.call.id: [] for session in sessions}
    while True:
        tracks = [(session, track) for session in sessions for track in session.tracks.values() if track.waiting]
        if not tracks:
            return {call: records for call, records in told.items() if records}
        streams, chunks, heard = [], [], []
        for session, track in tracks:
            samples = track.next_samples()
            if samples is not None and track.stream:
                streams.append(track.stream)
                chunks.append(samples)
                heard.append((session, track))
        for (session, track), events in zip(heard, sessions[0].recognizer.step_many(streams, chunks), strict=True):
            told[session.call.id] += track.tell(list(events))
        for session, track in tracks:
            told[session.call.id] += track.turn(session.recognizer) or []
