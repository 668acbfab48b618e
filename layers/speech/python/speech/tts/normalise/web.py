"""E-mail addresses, web addresses and file names, as one reads them out."""

from __future__ import annotations

import re

from speech.text.numbers import listed
from speech.tts.normalise.numbers import cardinal, digits
from speech.tts.normalise.rules import DIGITS, LETTERS, Place, rule
from speech.tts.normalise.words import Saying, say, spell

NAMES = {
    ".": "dot", "-": "dash", "_": "underscore", "+": "plus", "/": "slash", ":": "colon", "?": "question mark",
    "=": "equals", "&": "and", "#": "hash", "%": "percent", "~": "tilde", "@": "at",
}  # fmt: skip
SAID_ENDINGS = frozenset(listed("com org net info gov biz app dev pro shop store online site cloud zip doc docs"))
DOMAINS = r"com|org|net|edu|gov|io|co|ai|app|dev|info|biz|uk|de|us|ca|eu|tv|me"
FILES = r"js|py|ts|txt|pdf|csv|json|html?|css|xml|zip|docx?|xlsx?|pptx?|png|jpe?g|gif|mp[34]|wav|exe|md|ya?ml|sh"


def address(text: str, place: Place) -> Saying:
    """The pieces of an address: words said, short or unreadable runs of letters spelt, digits one by one."""
    out: Saying = []
    pieces = re.findall(r"[A-Za-z]+|\d+|.", text)
    for i, piece in enumerate(pieces):
        if piece.isdigit():
            out += say(cardinal(int(piece)) if len(piece) <= 2 and piece[0] != "0" else digits(piece))
        elif piece.isalpha() and piece.isascii():
            out += _run(piece, place, after_dot=i > 0 and pieces[i - 1] == ".")
        elif piece in NAMES:
            out += say(NAMES[piece])
    return out


def _run(piece: str, place: Place, after_dot: bool) -> Saying:
    lower = piece.lower()
    if after_dot and lower in SAID_ENDINGS:
        return say(lower)
    if lower == "www" or len(piece) <= 2 or (after_dot and len(piece) == 3 and not place.known(lower)):
        return spell(lower)
    readable = bool(re.search("[aeiouy]", lower)) and (len(piece) > 3 or place.known(lower))
    return say(lower) if readable else spell(lower)


def _mail(m: re.Match[str], place: Place) -> Saying | None:
    return address(m[0], place)


def _site(m: re.Match[str], place: Place) -> Saying | None:
    return address(m[1].rstrip("/"), place)


def _file(m: re.Match[str], place: Place) -> Saying | None:
    ending = m[2].lower()
    tail = say(ending) if ending in SAID_ENDINGS else spell(ending) + say(digits(ending))
    return address(m[1], place) + say("dot") + tail


def _silent(m: re.Match[str], place: Place) -> Saying | None:
    return []


def _hashtag(m: re.Match[str], place: Place) -> Saying | None:
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", m[1])
    out = say("hashtag")
    for word in words:
        out += say(cardinal(int(word[:15]))) if word.isdigit() else say(word.lower(), cased=word)
    return out


def _handle(m: re.Match[str], place: Place) -> Saying | None:
    return address(m[0], place) if not place.char_before().isalnum() else None


_END = r"[^\s<>\"',;.!?)\]*]"
RULES = [
    rule("]", r"\]\((?:https?://|mailto:|/)[^)\s]{0,2000}\)", _silent),
    rule(LETTERS + DIGITS, r"[A-Za-z0-9][\w.+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}", _mail),
    rule("hHfw", rf"(?:(?:https?|ftp)://|(?=www\.))([^\s<>\"]{{0,2000}}{_END}/?)", _site, re.ASCII | re.IGNORECASE),
    rule(
        LETTERS + DIGITS,
        rf"((?:[A-Za-z0-9-]{{1,63}}\.){{1,5}}(?:{DOMAINS})(?![\w@-])(?:/[^\s<>\"]{{0,2000}}{_END}|/)?)",
        _site,
    ),
    rule(LETTERS, rf"([A-Za-z][\w-]{{0,63}})\.({FILES})(?![\w@-])", _file),
    rule("#", r"#([A-Za-z]\w{0,139})", _hashtag),
    rule("@", r"@[A-Za-z]\w{0,39}", _handle),
]
