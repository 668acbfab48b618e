"""Transcripts as files: Amazon Transcribe's JSON, subtitles and plain text, side by side under the recording's key."""

from __future__ import annotations

import json
from collections.abc import Callable

from speech.text.subtitles import Caption, captions, merge, to_srt, to_vtt
from speech.text.transcript import Transcript, to_text, to_transcribe_json

from cloud import storage
from cloud.recordings import Recording
from cloud.settings import TranscribeSettings

CONTENT_TYPES = {
    "json": "application/json",
    "srt": "application/x-subrip; charset=utf-8",
    "vtt": "text/vtt; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
}


def key(settings: TranscribeSettings, recording: Recording, name: str) -> str:
    """Key of one output: a.wav and a.mp3 do not collide, because the recording's whole key is in it."""
    return f"{settings.output_prefix}{recording.key}.{name}"


def write(settings: TranscribeSettings, recording: Recording, transcript: Transcript) -> dict[str, str]:
    """Writes every format asked for, unless a later upload's is there (`Superseded`); addresses by format."""
    account = settings.recordings_queue_url.split("/")[-2]  # the only place where the environment names it
    written = {}
    for name in settings.formats:
        target = key(settings, recording, name)
        body = render(name, transcript, recording.job_id, account).encode()
        storage.write_if_newest(settings.output_bucket, target, body, CONTENT_TYPES[name], recording.sequencer)
        written[name] = f"s3://{settings.output_bucket}/{target}"
    return written


def render(name: str, transcript: Transcript, job_name: str, account_id: str) -> str:
    """The text of one format."""
    makers: dict[str, Callable[[], str]] = {
        "json": lambda: json.dumps(to_transcribe_json(transcript, job_name, account_id), ensure_ascii=False),
        "srt": lambda: to_srt(_captions(transcript)),
        "vtt": lambda: to_vtt(_captions(transcript)),
        "txt": lambda: to_text(transcript),
    }
    return makers[name]()


def _captions(transcript: Transcript) -> list[Caption]:
    names = transcript.names() if len(transcript.channels) > 1 else [""] * len(transcript.channels)
    return merge(
        captions([token for final in finals for token in final.tokens], name)
        for name, finals in zip(names, transcript.channels, strict=True)
    )
