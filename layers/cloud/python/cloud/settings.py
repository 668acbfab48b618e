"""Environment variables as a type: each function names what it needs, and a start without them names all it misses.

A field `job_table` is the variable `JOB_TABLE`. There are no defaults here: the template sets every variable,
and a contract test holds the two together. `POWERTOOLS` are read by Powertools itself.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar

POWERTOOLS = ("POWERTOOLS_SERVICE_NAME", "POWERTOOLS_METRICS_NAMESPACE", "POWERTOOLS_LOG_LEVEL")
FORMATS = ("json", "srt", "vtt", "txt")
NONE = "none"  # what a variable says that may name something and does not
CHANNEL_MODES = ("auto", "mono")
MAY_BE_EMPTY = ("_PREFIX", "VOCABULARY", "VOCABULARY_FILTER")  # ends of names

Kind = TypeVar("Kind", bound="Settings")


class BadSettings(RuntimeError):
    """The environment lacks variables or holds values that cannot be used; the text names each."""


def check_formats(formats: tuple[str, ...]) -> None:
    """Raises BadSettings unless all of these are formats of transcripts, and there is one."""
    if not formats or any(name not in FORMATS for name in formats):
        raise BadSettings(f"FORMATS must be of {', '.join(FORMATS)}; got {','.join(formats) or 'none'}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What every function needs beside Powertools' own: nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSettings(Settings):
    """What every function that works on the jobs of a queue needs."""

    job_table: str
    output_bucket: str
    work_prefix: str  # of checkpoints, texts and converted audio, in the output bucket
    event_bus: str
    max_receives: int  # deliveries of a message before the queue moves it to the dead-letter queue
    retry_delay_s: int  # wait before the second attempt; doubles with each further one
    job_retention_days: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSettings(QueueSettings):
    """What every function on the path of a recording needs."""

    recordings_queue_url: str
    conversions_queue_url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeakSettings(QueueSettings):
    """The function that turns a long text into a file of speech."""

    models_dir: str
    tts_bundle: str  # folder of the bundle in models_dir
    speech_queue_url: str
    checkpoint_margin_s: int  # seconds left of the invocation when it hands over to the next
    time_budget_s: int  # seconds after which it hands over in any case; 0: no such limit


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertSettings(JobSettings):
    """The function that decodes what libsndfile cannot read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscribeSettings(JobSettings):
    """The function that turns a recording into a transcript."""

    models_dir: str
    asr_bundle: str  # folder of the bundle in models_dir
    output_prefix: str
    formats: tuple[str, ...]  # of FORMATS
    channel_identification: str  # auto: each channel is a speaker of its own; mono: channels are averaged
    vocabulary: tuple[str, ...]  # words and phrases to listen for
    vocabulary_filter: tuple[str, ...]  # words to hide
    vocabulary_filter_method: str  # mask, remove or tag
    checkpoint_margin_s: int  # seconds left of the invocation when it hands over to the next
    time_budget_s: int  # seconds after which it hands over in any case; 0: no such limit

    def __post_init__(self) -> None:
        check_formats(self.formats)
        if self.channel_identification not in CHANNEL_MODES:
            raise BadSettings(
                f"CHANNEL_IDENTIFICATION must be {' or '.join(CHANNEL_MODES)}; got {self.channel_identification}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizerSettings(Settings):
    """The function that looks at tokens before a WebSocket is opened."""

    token_secret: str  # name or ARN


@dataclass(frozen=True, slots=True, kw_only=True)
class SocketSettings(Settings):
    """The function behind the WebSocket."""

    models_dir: str
    asr_bundle: str  # folder of the bundle in models_dir
    tts_bundle: str  # the same of the voice
    connection_table: str
    stream_table: str
    connections_url: str  # of API Gateway's connections API, stage included
    most_connections: int  # of one token's subject at a time
    most_streams: int  # of one connection at a time, contexts included
    speak_s: int  # seconds after which a message's own invocation calls another to speak on
    watcher_table: str  # who watches which live call; none: there are none


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiSettings(Settings):
    """The function behind the REST API."""

    models_dir: str
    asr_bundle: str  # folder of the bundle in models_dir
    tts_bundle: str  # the same of the voice
    job_table: str
    job_retention_days: int
    input_bucket: str
    input_prefix: str  # of keys that become jobs
    output_bucket: str
    work_prefix: str  # of clips on their way to the decoder and of long texts, in the output bucket
    speech_queue_url: str
    convert_function: str  # decodes what libsndfile cannot read
    token_secret: str  # ARN of the secret that signs tokens
    clip_s: int  # seconds of audio that are transcribed while the caller waits
    upload_mb: int  # MiB of one upload, at most
    cors_origin: str  # whose pages may call: an origin, * for any, none for none
    output_prefix: str  # of transcripts, in the output bucket
    call_table: str  # of live calls; none: there are none
    calls_queue_url: str
    call_retention_days: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleSettings(Settings):
    """The function that serves the page."""

    socket_url: str  # of the WebSocket
    storage_origins: tuple[str, ...]  # where forms send recordings and where long transcripts lie


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsSettings(Settings):
    """The function behind the audio stream."""

    models_dir: str
    asr_bundle: str  # folder of the bundle in models_dir
    record_table: str
    transcript_stream: str  # name
    event_bus: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStartSettings(Settings):
    """The function that hears of live calls."""

    call_table: str
    calls_queue_url: str
    call_retention_days: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveWorkerSettings(CallStartSettings):
    """The process that hears live calls."""

    models_dir: str
    asr_bundle: str  # folder of the bundle in models_dir
    output_bucket: str
    output_prefix: str
    work_prefix: str  # of checkpoints, in the output bucket
    formats: tuple[str, ...]  # of FORMATS
    transcript_stream: str  # name
    event_bus: str
    watcher_table: str
    connections_url: str  # of API Gateway's connections API, stage included
    most_calls: int  # at a time
    lease_s: int  # a worker that has not been heard of for so long is dead
    checkpoint_s: int  # between two checkpoints of a call
    call_idle_s: int  # without audio a call is over
    call_recording: str  # none, or the format in which the sound of calls is kept: flac
    heartbeat_file: str  # touched while the process is well
    tts_bundle: str  # folder of the voice's bundle in models_dir
    responder: str  # who answers callers: none, echo, chat, bedrock or function
    responder_address: str  # of chat the URL, of bedrock the model, of function the name; or none
    responder_model: str  # that chat is asked for; or none
    responder_secret: str  # ARN of a secret or parameter with the key of chat; or none
    responder_prompt: str  # that tells chat and bedrock what they are; or none
    responder_options: str  # further parameters of a request to chat, a JSON object
    reply_stream: str  # video stream that is spoken into, with {call} for the call's id; or none
    reply_encoding: str  # pcm_mulaw or pcm_s16le
    reply_voice: str  # of the bundle; or none, for its first
    reply_fallback: str  # what is said when there is no answer; or none
    reply_first_text_s: int  # to wait for the first words of an answer
    reply_between_s: int  # and for more of them
    barge_in_words: int  # that a caller says before a reply stops

    def __post_init__(self) -> None:
        check_formats(self.formats)
        if self.reply_encoding not in ("pcm_mulaw", "pcm_s16le"):
            raise BadSettings(f"REPLY_ENCODING must be pcm_mulaw or pcm_s16le; got {self.reply_encoding}")
        if self.call_recording not in (NONE, "flac"):
            raise BadSettings(f"CALL_RECORDING must be none or flac; got {self.call_recording}")


def reply_stream(settings: LiveWorkerSettings, call_id: str) -> str:
    """The video stream that is spoken into in a call; "" for none."""
    return "" if settings.reply_stream == NONE else settings.reply_stream.replace("{call}", call_id)


def variables(kind: type[Settings]) -> tuple[str, ...]:
    """Names of the environment variables that settings of this kind are read from."""
    return tuple(field.name.upper() for field in fields(kind))


def load(kind: type[Kind], environ: Mapping[str, str] = os.environ) -> Kind:
    """Settings from the environment; `BadSettings` names every variable that is missing or malformed.

    A prefix and a vocabulary may be empty, so such a variable counts as set when it is set to nothing.
    """
    missing = [n for n in variables(kind) if n not in environ or not (environ[n] or n.endswith(MAY_BE_EMPTY))]
    if missing:
        raise BadSettings(f"environment variables not set: {', '.join(missing)}")
    malformed: list[str] = []
    values = {f.name: _parse(f.name.upper(), str(f.type), environ, malformed) for f in fields(kind)}
    if malformed:
        raise BadSettings("; ".join(malformed))
    return kind(**values)


def _parse(name: str, kind: str, environ: Mapping[str, str], malformed: list[str]) -> Any:
    text = environ[name]
    if kind.startswith("tuple"):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if kind != "int":
        return text
    if text.isascii() and text.isdigit():
        return int(text)
    malformed.append(f"{name} must be a whole number of 0 or more; got {text!r}")
    return 0
