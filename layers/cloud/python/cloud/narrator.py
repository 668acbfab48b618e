"""The work of the speak function on a job: from where it was left to an audio file, or a checkpoint for the next one.

Speech is written as plain samples, a file for each invocation, since no codec's state can be put down; the last
invocation makes one file of them in the format asked for, and has all its time for that where the file is a long one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from speech.audio import pcm
from speech.audio.files_write import FileWriter
from speech.errors import BadInput, BadSnapshot
from speech.tts.excitation import RATE

from cloud import notices, queues, storage, texts
from cloud.deadline import Deadline
from cloud.jobs import Job, JobTable
from cloud.narration import BYTES, ENCODING, Narration
from cloud.observability import count_speech, logger, tracer
from cloud.recordings import handover
from cloud.settings import SpeakSettings
from cloud.texts import CONTENT_TYPES, Text
from cloud.uploads import S3Writer

if TYPE_CHECKING:
    from speech.tts.synthesizer import Synthesizer

ENCODINGS = {"mp3": "mp3", "opus": "ogg_opus", "flac": "flac", "wav": "wav"}  # by format; pcm is the samples themselves
# Seconds that a second of speech may take to become part of the file: thrice what one core was seen to need, with S3.
FILE_S = {"mp3": 0.02, "opus": 0.066, "flac": 0.005, "wav": 0.005, "pcm": 0.005}
BLOCK_BYTES = 1 << 20
NOTED_S = 5.0  # seconds between two notes of how far a job is


@dataclass(frozen=True, slots=True)
class Narrator:
    """Makes files of speech with one synthesiser."""

    settings: SpeakSettings
    synthesizer: Synthesizer
    jobs: JobTable

    @tracer.capture_method(capture_response=False)
    def __call__(self, job: Job, deadline: Deadline) -> None:
        """Works on a claimed job until it is done or time is up."""
        text = texts.read(job.recording)
        work = self._begin(job, text)
        only_file = work.stream is None
        done = self._speak(job, work, deadline)
        if not done or (not only_file and work.seconds * FILE_S[text.format] > deadline.left_s):
            self._leave(job, work, deadline)
            return
        if not work.seconds:
            raise BadInput("there is nothing in the text that can be spoken; expected words")
        self._finish(job, text, work, deadline)

    def _begin(self, job: Job, text: Text) -> Narration:
        if job.checkpoint:
            blob = storage.read_bytes(self.settings.output_bucket, job.checkpoint)
            try:
                return Narration.resume(self.synthesizer, text.text, blob)
            except BadSnapshot as bad:  # a new voice was deployed meanwhile: it speaks all of it
                logger.warning("begun anew: %s", bad)
        return Narration(text.text, self.synthesizer.stream(text.voice, encoding=ENCODING, speed=text.speed))

    def _speak(self, job: Job, work: Narration, deadline: Deadline) -> bool:
        """One part, if something is left to say."""
        if work.stream is None:
            return True
        noted_s = deadline.spent_s

        def time_is_up() -> bool:
            nonlocal noted_s
            if deadline.spent_s - noted_s > NOTED_S:
                noted_s = deadline.spent_s
                self.jobs.note(job, deadline.now_s, progress=round(work.progress, 3), audio_seconds=work.seconds)
            return deadline.passed()

        with S3Writer(self.settings.output_bucket, self._part(job, work.parts)) as part:
            done = work.run(part.write, time_is_up)
        work.parts += 1
        return done

    def _leave(self, job: Job, work: Narration, deadline: Deadline) -> None:
        """For a later invocation: first the table, then the message, so that a loss between the two is a retry."""
        key = f"{self.settings.work_prefix}{job.recording.job_id}/{work.parts}.checkpoint"
        blob = work.to_bytes(work.spent_s + deadline.spent_s)
        storage.write_bytes(self.settings.output_bucket, key, blob)
        logger.info("time is up after %.1f s of speech: the next invocation goes on", work.seconds)
        found = {"progress": round(work.progress, 3), "audio_seconds": work.seconds}
        self.jobs.hand_over(job, deadline.now_s, checkpoint=key, **found)
        queues.send(self.settings.speech_queue_url, handover(job.recording))
        self._forget([job.checkpoint] if job.checkpoint else [])

    def _finish(self, job: Job, text: Text, work: Narration, deadline: Deadline) -> None:
        parts = [self._part(job, number) for number in range(work.parts)]
        target = texts.speech_key(job.recording.job_id, text.format)
        with S3Writer(self.settings.output_bucket, target, content_type=CONTENT_TYPES[text.format]) as file:
            if text.format == "pcm":
                for block in self._blocks(parts):
                    file.write(block)
            else:
                writer = FileWriter(file, ENCODINGS[text.format], RATE)
                for block in self._blocks(parts):
                    writer.receive(pcm.decode(block, ENCODING))
                writer.finish()
        address, spent_s = f"s3://{self.settings.output_bucket}/{target}", work.spent_s + deadline.spent_s
        notices.spoken(self.settings.event_bus, job.recording, {text.format: address}, work.seconds)
        self.jobs.complete(
            job,
            deadline.now_s,
            outputs=[address],
            progress=1,
            audio_seconds=work.seconds,
            processing_seconds=spent_s,
        )
        count_speech(work.seconds, len(text.text), spent_s)
        self._forget([*parts, job.recording.key, *([job.checkpoint] if job.checkpoint else [])])

    def _blocks(self, parts: list[str]) -> Iterator[bytes]:
        """The samples of all parts, in whole samples."""
        for key in parts:
            with storage.open_object(self.settings.output_bucket, key) as part:
                while block := part.read(BLOCK_BYTES - BLOCK_BYTES % BYTES):
                    yield block

    def _part(self, job: Job, number: int) -> str:
        return f"{self.settings.work_prefix}{job.recording.job_id}/{number}.pcm"

    def _forget(self, keys: list[str]) -> None:
        """Deletes what is no longer needed; what stays by accident the bucket's lifecycle deletes."""
        try:
            storage.delete_all(self.settings.output_bucket, keys)
        except Exception:
            logger.warning("work files stay until the bucket's lifecycle deletes them", exc_info=True)
