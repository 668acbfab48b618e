"""A caller's own pronunciations: `{text, alias}` says other words, `{text, phonemes}` says these sounds."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace

from speech.errors import BadText
from speech.pronunciation.phonemes import from_ipa
from speech.tts.normalise import SpokenWord, normalise
from speech.tts.normalise.words import stronger

MOST_ENTRIES = 1000
LONGEST_TEXT, LONGEST_ALIAS, LONGEST_PHONEMES = 100, 300, 300
LEAD = re.compile(
    r"[^\w\s'$£€¥#@.]{1,4}(?=\s|$)|\.{1,3}(?=\s|$)|\s{1,4}[—–-]{1,2}(?=\s)"
)  # signs that end what stands before
LIMITS = {"text": LONGEST_TEXT, "alias": LONGEST_ALIAS, "phonemes": LONGEST_PHONEMES}


@dataclass(frozen=True, slots=True)
class Entry:
    """One pronunciation; exactly one of alias and phonemes is given."""

    text: str
    alias: str = ""
    phonemes: str = ""


class UserLexicon:
    """Entries found in a text as whole words: as written, or in any case for an entry in small letters."""

    def __init__(self, entries: Sequence[Entry] = ()) -> None:
        self.entries = tuple(entries)
        self._exact = {entry.text: entry for entry in entries}
        self._any_case = {entry.text: entry for entry in entries if entry.text == entry.text.lower()}
        self._pattern = _pattern(self._exact) if entries else None

    @property
    def stamp(self) -> str:
        """Tells this lexicon from any other, in a snapshot; "" if it has no entries."""
        listing = json.dumps([astuple(entry) for entry in self.entries]).encode()
        return hashlib.sha256(listing).hexdigest()[:12] if self.entries else ""

    @classmethod
    def read(cls, values: Sequence[Mapping[str, object]]) -> UserLexicon:
        """Entries from parsed JSON. Raises BadText naming the entry and what was expected."""
        if len(values) > MOST_ENTRIES:
            raise BadText(f"the lexicon has {len(values)} entries, at most {MOST_ENTRIES} are allowed")
        entries = [_entry(value, i) for i, value in enumerate(values)]
        seen: dict[str, int] = {}
        for i, entry in enumerate(entries):
            if entry.text in seen:
                raise BadText(f"lexicon entry {i}: {entry.text!r} is entry {seen[entry.text]} already")
            seen[entry.text] = i
        return cls(entries)

    def split(self, text: str) -> Iterator[tuple[int, int, Entry | None]]:
        """The text as stretches (start, end, entry); None where no entry applies."""
        at = 0
        for found in self._pattern.finditer(text) if self._pattern else ():
            entry = self._exact.get(found[0]) or self._any_case.get(found[0].lower())
            if entry is None:
                continue
            if found.start() > at:
                yield at, found.start(), None
            yield found.start(), found.end(), entry
            at = found.end()
        if at < len(text):
            yield at, len(text), None

    def words(self, text: str, known: Callable[[str], bool]) -> tuple[SpokenWord, ...]:
        """`normalise` with the entries applied; offsets are in `text`."""
        if self._pattern is None:
            return normalise(text, known)
        out: list[SpokenWord] = []
        for start, end, entry in self.split(text):
            if entry is None:
                sign, found = lead(text[start:end], known)
                if out:
                    out[-1] = replace(out[-1], after=stronger(out[-1].after, sign))
                out += [placed(word, word.start + start, word.end + start) for word in found]
            elif entry.alias:
                out += [placed(word, start, end) for word in normalise(entry.alias, known)]
            else:
                out.append(SpokenWord(entry.text.lower(), start, end, phonemes=entry.phonemes))
        return tuple(out)

    def words_with_lead(self, text: str, known: Callable[[str], bool]) -> tuple[str, tuple[SpokenWord, ...]]:
        """The same, with the sign that stands before the first word."""
        return lead(text, known)[0], self.words(text, known)


def lead(text: str, known: Callable[[str], bool]) -> tuple[str, tuple[SpokenWord, ...]]:
    """The sign before the first word of a stretch, which belongs to the word before it, and the words."""
    before = LEAD.match(text)
    found = normalise("then" + before[0], known) if before else ()
    return found[0].after if found else "", normalise(text, known)


def placed(word: SpokenWord, start: int, end: int) -> SpokenWord:
    """The word at another place of the text."""
    return replace(word, start=start, end=end)


def _entry(value: Mapping[str, object], i: int) -> Entry:
    where = f"lexicon entry {i}"
    if not isinstance(value, Mapping):
        raise BadText(f"{where}: expected an object with text and alias or phonemes, got {type(value).__name__}")
    if unknown := sorted(set(value) - set(LIMITS)):
        raise BadText(f"{where}: unknown keys {unknown}; known are {sorted(LIMITS)}")
    strings = {name: _string(value[name], f"{where}: {name}", LIMITS[name]) for name in value}
    if "text" not in strings or ("alias" in strings) == ("phonemes" in strings):
        raise BadText(f"{where}: expected text and either alias or phonemes, got {sorted(value)}")
    phonemes = strings.get("phonemes", "")
    if phonemes:
        return Entry(strings["text"], phonemes=from_ipa(phonemes, f"{where}: phonemes"))
    return Entry(strings["text"], alias=strings["alias"])


def _string(value: object, what: str, longest: int) -> str:
    if not isinstance(value, str) or not value.strip():
        raise BadText(f"{what}: expected text, got {value!r}")
    if len(value) > longest:
        raise BadText(f"{what} has {len(value)} characters, at most {longest} are allowed")
    return value.strip()


def _pattern(texts: Mapping[str, Entry]) -> re.Pattern[str]:
    ordered = sorted(texts, key=len, reverse=True)
    return re.compile(r"(?<!\w)(?:" + "|".join(re.escape(text) for text in ordered) + r")(?!\w)", re.IGNORECASE)
