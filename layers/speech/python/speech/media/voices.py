"""The tracks of a call as they are declared again and again: who speaks, and in what format."""

from __future__ import annotations

from speech.errors import BadAudio, NeedsDecoder
from speech.media.call_events import AudioTrack
from speech.media.events import Block, Track
from speech.media.formats import AudioFormat, audio_format, speaker


class Voices:
    """Remembers each track's declaration and format; tells when one is new or has changed."""

    def __init__(self, mime_type: str, most: int) -> None:
        self._mime_type = mime_type
        self._most = most  # tracks remembered
        self._declared: dict[int, Track] = {}
        self._told: dict[int, AudioTrack] = {}
        self._current: dict[int, tuple[AudioTrack, bool]] = {}  # as declared last; whether its blocks are given out

    def declare(self, track: Track) -> None:
        """A document declares a track."""
        if self._declared.get(track.number) != track and (
            track.number in self._declared or len(self._declared) < self._most
        ):
            self._declared[track.number] = track
            self._current.pop(track.number, None)

    def mime(self, mime_type: str) -> None:
        """The MimeType tag of a fragment; it holds until there is another one."""
        if mime_type and mime_type != self._mime_type:
            self._mime_type = mime_type
            self._current.clear()

    def hear(self, block: Block) -> tuple[list[AudioTrack], float, bool]:
        """(what must be told before this block, its duration in ms or 0, whether it can be given out)."""
        number = block.track
        if number not in self._current:
            if number not in self._declared:
                # The declaration was damaged; the next document brings it again.
                return [], 0.0, False
            self._current[number] = self._resolve(self._declared[number])
        found, audible = self._current[number]
        news = [] if self._told.get(number) == found else [found]
        self._told[number] = found
        return news, found.format.milliseconds(len(block.data)) if found.format else 0.0, audible

    def _resolve(self, track: Track) -> tuple[AudioTrack, bool]:
        who = speaker(track)
        try:
            known: AudioFormat = audio_format(track, self._mime_type)
        except NeedsDecoder as error:
            return AudioTrack(track, who, None, str(error)), True
        except BadAudio as error:
            return AudioTrack(track, who, None, str(error)), False
        return AudioTrack(track, who, known), True
