"""The work of the convert function on one job: what only FFmpeg reads becomes FLAC for the transcribe function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO, cast

from speech.audio.files_convert import Converted, transcode_to_flac

from cloud import queues, storage
from cloud.deadline import Deadline
from cloud.jobs import Job, JobTable
from cloud.observability import logger, tracer
from cloud.recordings import handover
from cloud.settings import ConvertSettings
from cloud.uploads import S3Writer


@dataclass(frozen=True, slots=True)
class Converter:
    """Decodes recordings from one bucket into the work folder of another, as streams."""

    settings: ConvertSettings
    jobs: JobTable

    def __call__(self, job: Job, deadline: Deadline) -> None:
        """Decodes a claimed job's recording and sends it back to be transcribed."""
        found: dict[str, object] = {}
        if not job.converted:
            key = f"{self.settings.work_prefix}{job.recording.job_id}/audio.flac"
            converted = self._convert(job, key)
            logger.info("decoded %s: %.1f s", converted.format, converted.frames / converted.rate)
            found = {"converted": key, "warnings": list(converted.warnings)}
        self.jobs.hand_over(job, deadline.now_s, **found)
        queues.send(self.settings.recordings_queue_url, handover(job.recording))

    @tracer.capture_method(capture_response=False)
    def _convert(self, job: Job, key: str) -> Converted:
        with storage.open_current(job.recording) as source, S3Writer(self.settings.output_bucket, key) as target:
            return transcode_to_flac(cast(BinaryIO, source), cast(BinaryIO, target))
