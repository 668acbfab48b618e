"""Errors of the speech core, split by one question: would trying again help?

`BadInput` never gets better: the edge answers 4xx or sends the message to the dead-letter queue. `Transient` may.
Every message names what was wrong and what was expected.
"""

from __future__ import annotations


class SpeechError(Exception):
    """Base of everything the speech core raises on purpose."""


class BadInput(SpeechError):
    """The input is wrong and will stay wrong: do not retry."""


class BadAudio(BadInput):
    """The audio cannot be decoded, or its rate, channels or encoding are not supported."""


class NeedsDecoder(BadAudio):
    """The container is known but libsndfile cannot read it: a function with the `av` decoder can."""


class BadMedia(BadInput):
    """A container (Matroska) or an acknowledgement of Kinesis Video Streams is malformed or beyond a limit."""


class BadSnapshot(BadInput):
    """A snapshot is damaged, of another version, or belongs to another bundle."""


class BadBundle(BadInput):
    """A model bundle is incomplete, altered or of a schema this code does not know."""


class BadText(BadInput):
    """Text or markup that cannot be spoken as it stands."""


class BadVocabulary(BadInput):
    """A custom vocabulary or a vocabulary filter that cannot be used as it stands."""


class Transient(SpeechError):
    """A condition of the moment: the same input may succeed when tried again."""
