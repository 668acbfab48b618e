"""The recogniser: a bundle's weights and graph, and the streams that it serves. Push samples in, take events out.

    recognizer = Recognizer.load("models/bundles/asr-en-v1")
    stream = recognizer.stream(rate=8000)
    for chunk in chunks:
        events = stream.receive(chunk)
    events = stream.finish()

Weights belong to the recogniser, state to the stream; a stream can be saved at any point and taken up elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from speech.asr import saved
from speech.asr.acoustic import FILE_STEP, LIVE_STEP, AcousticModel, AcousticState
from speech.asr.front import LEAD_SAMPLES, FrontEnd
from speech.asr.graph import Graph
from speech.asr.hearing import Hearings
from speech.asr.options import StreamOptions
from speech.asr.segments import Segments, SegmentState
from speech.asr.settings import RecognitionSettings
from speech.errors import BadBundle
from speech.events import Event
from speech.features.logmel import FloatArray, LogMel
from speech.model.bundle import Bundle
from speech.pronunciation.guesser import Guesser
from speech.text.formatter import Formatter


class Recognizer:
    """Weights, decoding graph and formatter of one bundle, shared by every stream."""

    def __init__(self, bundle: Bundle, formatter: Formatter, threads: int = 1) -> None:
        """From a bundle that has been read. Raises BadBundle if it is not one this code can run."""
        settings = RecognitionSettings.of(bundle.manifest)
        self.logmel = LogMel()
        if bundle.manifest.sample_rate != self.logmel.rate:
            raise BadBundle(f"{bundle.folder} is for {bundle.manifest.sample_rate} Hz, expected {self.logmel.rate} Hz")
        self.stamp, self.language = bundle.stamp, bundle.manifest.language
        silence = self.logmel.batch(np.zeros(self.logmel.window, np.float32))[0]
        self.acoustic = AcousticModel.load(bundle, silence, threads)
        if settings.min_speech is not None and not self.acoustic.detects:
            raise BadBundle(f"{bundle.folder}: settings.min_speech needs a graph with the output 'speech', it has none")
        graph = Graph.load(bundle.path("graph.bin"))
        if graph.phones != bundle.manifest.tokens:
            raise BadBundle(f"{bundle.folder}: graph.bin is over {graph.phones}, the manifest's tokens are others")
        sounds = settings.pronunciation
        guesser = None if sounds is None else partial(Guesser.load, bundle.folder.parent / sounds)
        self.hearings = Hearings(graph, settings.decoder, guesser)
        self.segments = Segments(settings, formatter, LEAD_SAMPLES / self.logmel.rate)

    @classmethod
    def load(cls, folder: str | Path, threads: int = 1, verify: bool = True) -> Recognizer:
        """The recogniser of a bundle's folder, with the text bundle that its manifest names beside it.

        Raises BadBundle if either is incomplete, altered or of an unknown schema. `verify=False` skips the checksums.
        """
        bundle = Bundle.load(folder, task="recognition", verify=verify)
        text = RecognitionSettings.of(bundle.manifest).text
        formatter = Formatter.plain() if text is None else Formatter.load(bundle.folder.parent / text)
        return cls(bundle, formatter, threads)

    def stream(self, rate: int = 16000, live: bool = True, options: StreamOptions | None = None) -> RecognizerStream:
        """A new stream of one channel at `rate` Hz, with words of its own if `options` name some.

        Raises BadAudio if the rate is not supported, BadVocabulary if a phrase cannot be pronounced.

        `live` streams work in steps of 160 ms and tell partials; the others in steps of 1.28 s, without partials,
        in a third of the time. Words and times of the two differ by no more than rounding can do.
        """
        step = LIVE_STEP if live else FILE_STEP
        segment = SegmentState(self.hearings.of(options))
        return RecognizerStream(self, FrontEnd(self.logmel, rate), self.acoustic.start(step), segment, live)

    def resume(self, blob: bytes) -> RecognizerStream:
        """The stream of a snapshot, going on where it stood. Raises BadSnapshot if it is damaged or foreign."""
        return RecognizerStream(self, *saved.unpack(self, blob))

    @staticmethod
    def step_many(streams: Sequence[RecognizerStream], chunks: Sequence[FloatArray]) -> list[list[Event]]:
        """`receive` for many streams of one recogniser at once, in common runs of the network: events of each.

        The events are those that each stream would give by itself.
        """
        if not streams:
            return []
        if len({id(stream) for stream in streams}) != len(streams):
            raise ValueError("a stream can take one chunk at a time: the same stream was given twice")
        if any(stream.recognizer is not streams[0].recognizer for stream in streams):
            raise ValueError("streams of different recognisers cannot share a step")
        for stream, chunk in zip(streams, chunks, strict=True):
            stream.push(chunk)
        return streams[0].recognizer.run(streams)

    def run(self, streams: Sequence[RecognizerStream]) -> list[list[Event]]:
        """All whole steps that wait in the streams, one from each at a time."""
        events: dict[RecognizerStream, list[Event]] = {stream: [] for stream in streams}
        while ready := [stream for stream in streams if stream.acoustic.ready]:
            stepped = self.acoustic.run([stream.acoustic for stream in ready])
            blocks = [block for _, block in stepped]
            partials = [stream.live for stream in ready]
            told = self.segments.advance([stream.segment for stream in ready], blocks, partials)
            for stream, (acoustic, _), (segment, new) in zip(ready, stepped, told, strict=True):
                stream.acoustic, stream.segment = acoustic, segment
                events[stream] += new
        return list(events.values())


class RecognizerStream:
    """One channel of audio on its way to words. Holds the state, which the recogniser's parts take and return."""

    def __init__(
        self, recognizer: Recognizer, front: FrontEnd, acoustic: AcousticState, segment: SegmentState, live: bool
    ) -> None:
        """Use `Recognizer.stream` or `Recognizer.resume`."""
        self.recognizer, self.front, self.acoustic, self.segment, self.live = recognizer, front, acoustic, segment, live
        self._finished = False

    @property
    def duration_s(self) -> float:
        """Seconds of audio received."""
        return self.front.duration_s

    def receive(self, samples: FloatArray) -> list[Event]:
        """Take samples (n,) in -1 to 1, any n: what they made certain. Raises BadAudio for a wrong array."""
        self.push(samples)
        return self.recognizer.run([self])[0]

    def push(self, samples: FloatArray) -> None:
        """Take samples without working on them: `Recognizer.run` does."""
        if self._finished:
            raise ValueError("the stream is finished: start another")
        self.acoustic = self.recognizer.acoustic.push(self.acoustic, self.front.receive(samples))

    def finish(self) -> list[Event]:
        """The audio is over: everything still owed, the look-ahead filled with silence. The stream is used up."""
        if self._finished:
            return []
        recognizer = self.recognizer
        self.acoustic = recognizer.acoustic.push(self.acoustic, self.front.finish())
        events = recognizer.run([self])[0]
        self.acoustic, block = recognizer.acoustic.flush(self.acoustic)
        [(segment, told)] = recognizer.segments.advance([self.segment], [block], [False])
        self.segment, last = recognizer.segments.finish(segment, self.duration_s)
        self._finished = True
        return events + told + last

    def snapshot(self) -> bytes:
        """The stream's whole state, at most 256 KiB, stamped with the bundle: for `Recognizer.resume` anywhere."""
        if self._finished:
            raise ValueError("the stream is finished: there is nothing to resume")
        return saved.pack(self)
