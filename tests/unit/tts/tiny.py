"""A pronouncer of a few words, with a letter-to-sound model trained on them in a blink."""

from __future__ import annotations

from functools import cache

from speech.pronunciation.joint import JointModel
from speech.pronunciation.lexicon import Lexicon
from speech.tts.g2p.pronouncer import Pronouncer

from models.tts.letters import train

ENTRIES = {
    "a": "A", "an": "æn", "and": "ænd", "apple": "ˈæpᵊl", "book": "bˈʊk", "books": "bˈʊks", "can": "kæn\tNone=kˈæn",
    "cat": "kˈæt", "close": "klˈOs\tVERB=klˈOz", "dollars": "dˈɑləɹz", "dog": "dˈɔɡ", "door": "dˈɔɹ", "five": "fˈIv",
    "he": "hi", "hello": "həlˈO", "here": "hˈɪɹ", "house": "hˈWs\tVERB=hˈWz", "i": "ˈI", "is": "ɪz", "it": "ɪt",
    "live": "lˈIv\tVERB=lˈɪv", "object": "ˈɑbʤəkt\tVERB=əbʤˈɛkt", "of": "ʌv", "polish": "pˈɑlɪʃ", "read": "ɹˈid",
    "record": "ɹˈɛkəɹd\tVERB=ɹəkˈɔɹd", "smart": "smˈɑɹt", "stop": "stˈɑp", "the": "ði", "to": "tu", "want": "wˈɑnt",
    "watch": "wˈɑʧ", "we": "wi", "world": "wˈɜɹld", "Polish": "pˈOlɪʃ", "London": "lˈʌndən", "NASA": "nˈæsə",
    "B": "bˈi", "F": "ˈɛf", "I": "ˈI", "S": "ˈɛs", "T": "tˈi", "V": "vˈi", "hat": "hˈæt", "hot": "hˈɑt", "dot": "dˈɑt",
    "cot": "kˈɑt", "bat": "bˈæt", "bad": "bˈæd", "cab": "kˈæb", "dab": "dˈæb", "tab": "tˈæb", "that": "ðæt",
}  # fmt: skip


def lexicon_bytes() -> bytes:
    """The entries as a lexicon file."""
    lines = [f"{word}\t{phonemes}\n" for word, phonemes in ENTRIES.items()]
    return "".join(sorted(lines, key=lambda line: line.split("\t")[0].encode())).encode()


@cache
def letters() -> JointModel:
    """A model of order 4 that has seen the entries."""
    words = [(word, said.split("\t")[0]) for word, said in ENTRIES.items() if word.islower() and len(word) > 2]
    return train(words, order=4, rounds=4, keep=[1, 1, 1, 1], rarest=1)


@cache
def pronouncer() -> Pronouncer:
    """The pronouncer."""
    return Pronouncer(Lexicon(lexicon_bytes()), letters())
