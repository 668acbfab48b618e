"""The work of the transcribe function on a job: from where it was left to a transcript, a checkpoint or the decoder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, cast

from speech.asr.options import StreamOptions
from speech.asr.vocabulary import CustomVocabulary
from speech.audio.files import AudioReader, open_audio
from speech.errors import BadInput, BadVocabulary, NeedsDecoder
from speech.text.transcript import Transcript
from speech.text.word_filter import WordFilter

from cloud import notices, outputs, queues, storage
from cloud.deadline import Deadline
from cloud.jobs import Job, JobTable
from cloud.observability import count_recording, logger, tracer
from cloud.recordings import Recording, handover
from cloud.settings import BadSettings, TranscribeSettings
from cloud.transcription import Progress, Transcription

if TYPE_CHECKING:
    from speech.asr.recognizer import Recognizer

LONGEST_KEY = 1024  # bytes of an S3 key


def options(settings: TranscribeSettings, recognizer: Recognizer) -> StreamOptions | None:
    """The deployment's own words, None if it has none. Raises BadSettings naming a variable that cannot be used."""
    if not settings.vocabulary and not settings.vocabulary_filter:
        return None
    try:
        vocabulary = CustomVocabulary.read(settings.vocabulary)
        hidden = WordFilter.read(settings.vocabulary_filter, settings.vocabulary_filter_method)
        found = StreamOptions(vocabulary, hidden if hidden.words else None)
        recognizer.hearings.of(found)  # pronounced once, while the function starts
    except BadVocabulary as error:
        raise BadSettings(f"VOCABULARY and VOCABULARY_FILTER: {error}") from error
    return found


@dataclass(frozen=True, slots=True)
class Transcriber:
    """Makes transcripts with one recogniser."""

    settings: TranscribeSettings
    recognizer: Recognizer
    jobs: JobTable
    options: StreamOptions | None = None  # words to listen for and to hide

    def __call__(self, job: Job, deadline: Deadline) -> None:
        """Works on a claimed job until it is done or time is up."""
        self._check_key(job.recording)
        with self._open(job) as stream:
            try:
                audio = open_audio(cast(BinaryIO, stream), allow_av=False)
            except NeedsDecoder as reason:
                logger.info("handed to the decoder: %s", reason)
                self._leave(job, deadline, self.settings.conversions_queue_url)
                return
            with audio:
                self._transcribe(job, audio, deadline)

    def _open(self, job: Job) -> storage.S3Reader:
        """The recording, or what the decoder made of it; in any case only while it is what its key holds."""
        stream = storage.open_current(job.recording)
        return storage.open_object(self.settings.output_bucket, job.converted) if job.converted else stream

    @tracer.capture_method(capture_response=False)
    def _transcribe(self, job: Job, audio: AudioReader, deadline: Deadline) -> None:
        work, before_s = self._begin(job, audio)
        done = work.run(deadline.passed)
        spent_s = before_s + deadline.spent_s
        if done:
            self._finish(job, work, spent_s, deadline)
            return
        progress = work.progress(spent_s)
        key = f"{self.settings.work_prefix}{job.recording.job_id}/{progress.frames}.checkpoint"
        storage.write_bytes(self.settings.output_bucket, key, progress.to_bytes())
        logger.info("time is up after %.1f s of audio: the next invocation goes on", work.seconds)
        self._leave(job, deadline, self.settings.recordings_queue_url, checkpoint=key, audio_seconds=work.seconds)
        self._forget(job.checkpoint)

    def _begin(self, job: Job, audio: AudioReader) -> tuple[Transcription, float]:
        if not job.checkpoint:
            mono = self.settings.channel_identification == "mono"
            return Transcription.begin(self.recognizer, audio, mono=mono, options=self.options), 0.0
        progress = Progress.from_bytes(storage.read_bytes(self.settings.output_bucket, job.checkpoint))
        return Transcription.resume(self.recognizer, audio, progress), progress.spent_s

    def _leave(self, job: Job, deadline: Deadline, queue_url: str, **found: object) -> None:
        """For a later invocation: first the table, then the message, so that a loss between the two is a retry."""
        self.jobs.hand_over(job, deadline.now_s, **found)
        queues.send(queue_url, handover(job.recording))

    def _finish(self, job: Job, work: Transcription, spent_s: float, deadline: Deadline) -> None:
        warnings = (*job.item.get("warnings", ()), *work.audio.warnings)
        transcript = Transcript(work.seconds, work.heard, warnings, self.recognizer.language)
        written = outputs.write(self.settings, job.recording, transcript)
        notices.completed(self.settings.event_bus, job.recording, written, work.seconds)
        self.jobs.complete(
            job,
            deadline.now_s,
            outputs=list(written.values()),
            audio_seconds=work.seconds,
            processing_seconds=spent_s,
            warnings=list(warnings),
        )
        count_recording(work.seconds, spent_s)
        self._forget(job.checkpoint, job.converted)

    def _forget(self, *keys: str | None) -> None:
        """Deletes what was left for this invocation; what stays by accident the bucket's lifecycle deletes."""
        try:
            storage.delete_all(self.settings.output_bucket, [key for key in keys if key])
        except Exception:
            logger.warning("work files stay until the bucket's lifecycle deletes them", exc_info=True)

    def _check_key(self, recording: Recording) -> None:
        longest = max(len(outputs.key(self.settings, recording, name).encode()) for name in self.settings.formats)
        if longest > LONGEST_KEY:
            raise BadInput(f"the transcript's key would have {longest} bytes, expected {LONGEST_KEY} or fewer")
