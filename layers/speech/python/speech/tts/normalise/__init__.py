"""Written text to the words that one says, each with its place in the caller's own text."""

from speech.tts.normalise.engine import normalise
from speech.tts.normalise.words import SpokenWord

__all__ = ["SpokenWord", "normalise"]
