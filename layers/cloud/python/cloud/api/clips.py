"""A short recording in memory becomes a transcript while the caller waits, or says why it cannot."""

from __future__ import annotations

import io
from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING, BinaryIO

from speech.audio.files import open_audio
from speech.errors import BadAudio, NeedsDecoder
from speech.text.transcript import Transcript

from cloud.api.errors import ApiError
from cloud.api.limits import too_long
from cloud.decoding import Decoder
from cloud.transcription import Transcription

if TYPE_CHECKING:
    from speech.asr.options import StreamOptions
    from speech.asr.recognizer import Recognizer


def transcribe(
    recognizer: Recognizer,
    decoder: Decoder,
    content: bytes,
    most_s: float,
    time_is_up: Callable[[], bool],
    options: StreamOptions | None = None,
) -> Transcript:
    """The transcript of a file's bytes, its channels averaged; `decoder` is asked where libsndfile cannot read it.

    Raises ApiError: 400 for what is no recording, 413 for what lasts longer than `most_s` (before any of it is
    recognised, where the file says how long it is) or than there is time.
    """
    try:
        try:
            return _heard(recognizer, io.BytesIO(content), most_s, time_is_up, options)
        except NeedsDecoder:
            with decoder.decoded(content) as flac:
                return _heard(recognizer, flac, most_s, time_is_up, options)
    except BadAudio as error:
        raise ApiError(HTTPStatus.BAD_REQUEST, str(error), code="invalid_audio", param="file") from error


def _heard(
    recognizer: Recognizer,
    file: BinaryIO,
    most_s: float,
    time_is_up: Callable[[], bool],
    options: StreamOptions | None,
) -> Transcript:
    with open_audio(file, allow_av=False) as audio:
        if audio.frames is not None and audio.frames > most_s * audio.rate:
            raise too_long(audio.frames / audio.rate, most_s)
        work = Transcription.begin(recognizer, audio, mono=True, options=options)
        if not work.run(lambda: work.seconds > most_s or time_is_up()):
            raise too_long(None, most_s)
        return Transcript(work.seconds, work.heard, tuple(audio.warnings), recognizer.language)
