"""A short recording in memory becomes a transcript while the caller waits, or says why it cannot."""

from __future__ import annotations

import io
from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING

from speech.audio.files import open_audio
from speech.errors import BadAudio, NeedsDecoder
from speech.text.transcript import Transcript

from cloud.api.errors import ApiError
from cloud.api.limits import WAY_OUT, too_long
from cloud.transcription import Transcription

if TYPE_CHECKING:
    from speech.asr.recognizer import Recognizer


def transcribe(
    recognizer: Recognizer, content: bytes, most_s: float, time_is_up: Callable[[], bool] = lambda: False
) -> Transcript:
    """The transcript of a file's bytes, its channels averaged.

    Raises ApiError: 400 for what is no recording or needs another decoder, 413 for what lasts longer than `most_s`
    (before any of it is recognised, where the file says how long it is) or than there is time.
    """
    try:
        with open_audio(io.BytesIO(content), allow_av=False) as audio:
            if audio.frames is not None and audio.frames > most_s * audio.rate:
                raise too_long(audio.frames / audio.rate, most_s)
            work = Transcription.begin(recognizer, audio, mono=True)
            if not work.run(lambda: work.seconds > most_s or time_is_up()):
                raise too_long(None, most_s)
            return Transcript(work.seconds, work.heard, tuple(audio.warnings), recognizer.language)
    except NeedsDecoder as error:
        message = f"{error}: {WAY_OUT}"
        raise ApiError(HTTPStatus.BAD_REQUEST, message, code="needs_decoder", param="file") from error
    except BadAudio as error:
        raise ApiError(HTTPStatus.BAD_REQUEST, str(error), code="invalid_audio", param="file") from error
