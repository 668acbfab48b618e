"""One call in work: what its stream brings goes to its tracks; and the step that advances the tracks of all calls."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from speech.errors import BadAudio, BadSnapshot, NeedsDecoder
from speech.events import Final
from speech.media.call_events import Audio, AudioTrack, FragmentDone, Position
from speech.media.formats import AudioFormat
from speech.media.kvs import CONTACT, MIME_TYPE
from speech.media.timeline import is_above
from speech.text.transcript import Transcript

from cloud.calls.call import Call
from cloud.calls.checkpoint import Checkpoint, SavedTrack
from cloud.calls.track import Track
from cloud.live.told import Teller, Told
from cloud.observability import logger
from cloud.replies import heard
from cloud.video.consumer import Consumer, ConsumerEvent, Patience

if TYPE_CHECKING:
    from speech.asr.recognizer import Recognizer


REPLY = "reply"  # who is heard in replies
Place = tuple[int, int]  # of a track: which of the call's streams, and the track's number there


@dataclass(slots=True)
class Session:
    """A call; made by `begin` or `resume`."""

    call: Call
    recognizer: Recognizer
    positions: dict[int, Position] = field(default_factory=dict)  # by stream: behind everything that was taken
    origin_ms: int | None = None  # the call's zero on the producer's clock: its first block
    tracks: dict[Place, Track] = field(default_factory=dict)
    contact_id: str | None = None  # of Amazon Connect: given, or that of the first fragment that has one
    mime_types: dict[int, str] = field(default_factory=dict)  # by stream: of its tracks, as the last fragment said
    unheard: dict[Place, str] = field(default_factory=dict)  # tracks that could not be heard, or not whole, and why
    deaf: set[Place] = field(default_factory=set)  # tracks whose blocks cannot be heard at present
    replies: list[Told] = field(default_factory=list)  # how each has ended, as `cloud.replies.records.ended` tells it
    trouble: str = ""  # why it could not be heard to its end

    @classmethod
    def begin(cls, call: Call, recognizer: Recognizer) -> Session:
        """A call of which nothing was heard."""
        return cls(call, recognizer, origin_ms=call.began_ms, contact_id=call.contact_id)

    @classmethod
    def resume(cls, call: Call, recognizer: Recognizer, saved: Checkpoint) -> Session:
        """From where another worker put it down.

        Raises BadSnapshot if that was done with another bundle, or with a decoder that this worker has not.
        """
        try:
            tracks = {place: _resumed(track, recognizer) for place, track in saved.tracks.items()}
        except BadAudio as error:
            raise BadSnapshot(f"another worker has heard what cannot be heard here: {error}") from error
        contact = saved.contact_id or call.contact_id
        session = cls(call, recognizer, saved.positions, saved.origin_ms, tracks, contact, saved.mime_types)
        session.replies = list(saved.replies)
        return session

    def consumer(self, patience: Patience, leg: int = 0) -> Consumer:
        """Reads one of the call's streams from where this session stands."""
        of = self.call.legs[leg]
        return Consumer(
            of.stream,
            of.start,
            self.positions.get(leg, Position()),
            contact_id=self.contact_id,
            mime_type=self.mime_types.get(leg) or of.mime_type,
            patience=patience,
        )

    def take(self, events: Iterable[ConsumerEvent], position: Position, leg: int = 0) -> None:
        """A batch of the consumer of a stream, and its position behind it."""
        for event in events:
            if isinstance(event, AudioTrack):
                self._declare(event, leg)
            elif isinstance(event, Audio) and (track := self._hearing(leg, event.track)):
                if self.origin_ms is None:
                    self.origin_ms = self._origin(event.at_ms)
                track.hear(event.at_ms - self.origin_ms, event.data)
            elif isinstance(event, FragmentDone):
                self.mime_types[leg] = event.tags.get(MIME_TYPE, self.mime_types.get(leg, ""))
                self.contact_id = self.contact_id or event.tags.get(CONTACT)
        self.positions[leg] = position

    def _hearing(self, leg: int, number: int) -> Track | None:
        """A track whose blocks can be heard now."""
        return None if (leg, number) in self.deaf else self.tracks.get((leg, number))

    def is_behind(self, leg: int, fragment: str) -> bool:
        """Whether a stream was heard up to this fragment."""
        heard = self.positions.get(leg, Position()).fragment
        return bool(fragment and heard) and not is_above(fragment, heard or "")

    def _origin(self, at_ms: int) -> int:
        """Zero of the call's clock: its first block; of several streams, where the earliest is said to begin."""
        starts = [leg.start.timestamp_s for leg in self.call.legs if leg.start.kind == "PRODUCER_TIMESTAMP"]
        return min(at_ms, *(round(1000 * at_s) for at_s in starts)) if len(starts) > 1 else at_ms

    def _declare(self, event: AudioTrack, leg: int) -> None:
        place = leg, event.track.number
        try:
            if event.format is None:
                raise NeedsDecoder(event.reason)
            self._audible(place, event.format, event.speaker)
        except BadAudio as error:
            # What was heard of it before stays.
            logger.error("call %s: track %d is not heard: %s", self.call.id, event.track.number, error)
            self.unheard[place] = str(error)
            self.deaf.add(place)
        else:
            self.deaf.discard(place)

    def _audible(self, place: Place, found: AudioFormat, speaker: str) -> None:
        """A track is declared in a format that can be heard. Raises BadAudio where it cannot be, here."""
        leg, several = place[0], len(self.call.legs) > 1
        if place in self.tracks:
            self.tracks[place].change_format(found)
        elif several and any(held == leg for held, _ in self.tracks):
            raise BadAudio("a call of two streams has one track on each")
        else:
            # Which of two streams is heard first is a matter of chance, so that they are numbered as the call has them.
            taken = {track.channel for track in self.tracks.values()}
            channel = leg if several and leg not in taken else max(taken, default=-1) + 1
            self.tracks[place] = Track(channel, self.call.legs[leg].speaker or speaker, found, Teller(channel))

    def checkpoint(self) -> Checkpoint:
        """For `resume` anywhere; only when nothing waits, as after `step`."""
        assert not any(track.waiting for track in self.tracks.values())
        tracks = {
            place: SavedTrack(
                track.channel,
                track.speaker,
                track.format,
                track.teller,
                track.stream.snapshot() if track.stream else None,
                track.end_ms,
                tuple(track.finals),
                track.numbered,
                track.sound.primer,
            )
            for place, track in self.tracks.items()
        }
        replies = tuple(self.replies)
        return Checkpoint(self.positions, self.origin_ms, tracks, self.contact_id, self.mime_types, replies)

    def finish(self) -> list[Told]:
        """The call is over: what its tracks still owed."""
        return [record for track in self.tracks.values() for record in track.finish()]

    def transcript(self) -> Transcript:
        """The finals so far, a channel for each track with its speaker's name, in the call's clock.

        What was heard of replies is a speaker of its own, behind them: `reply`, where there is any.
        """
        by_channel = {track.channel: track for track in self.tracks.values()}
        tracks = [by_channel.get(channel) for channel in range(max(by_channel, default=-1) + 1)]
        duration_s = max((track.end_ms or 0.0 for track in by_channel.values()), default=0.0) / 1000
        warnings = [f"track {number} was not heard: {reason}" for (_, number), reason in self.unheard.items()]
        warnings += [f"the call was not heard to its end: {self.trouble}"] if self.trouble else []
        finals = tuple(tuple(track.finals) if track else () for track in tracks)
        speakers = tuple(track.speaker if track else "unknown" for track in tracks)
        if replies := self._replied():
            finals, speakers = (*finals, replies), (*speakers, REPLY)
        return Transcript(duration_s, finals, tuple(warnings), self.recognizer.language, speakers)

    def _replied(self) -> tuple[Final, ...]:
        origin_s = (self.origin_ms or 0) / 1000
        found = [heard.final(segment, reply, origin_s) for segment, reply in enumerate(self.replies)]
        return tuple(final for final in found if final)


def _resumed(track: SavedTrack, recognizer: Recognizer) -> Track:
    return Track(
        track.channel,
        track.speaker,
        track.format,
        track.teller,
        None if track.snapshot is None else recognizer.resume(track.snapshot),
        track.end_ms,
        list(track.finals),
        track.numbered,
        primer=track.primer,
    )


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
