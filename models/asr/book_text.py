"""Files of books in a git snapshot, and the sentences of one: without header, licence, notes, tables and headings."""

from __future__ import annotations

import re
import subprocess
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

WORD = re.compile(r"[a-z]+(?:'[a-z]+)*")
BYTES = range(15_000, 4_194_304)  # of a book's file
NO_TEXT = re.compile(r"\.(xls|csv|png|jpe?g|pgz|docx|md|xml|json|js|html?|css|zip|py|ipynb|pdf)$")

_START = re.compile(
    r"^.{0,10}\*\*\* ?START OF TH.*$|^.*\*END\*? ?THE SMALL PRINT.*$|^.*END THE SMALL PRINT!.*$", re.M | re.I
)
_STOP = re.compile(
    r"^.{0,10}\*\*\* ?END OF TH.*$|^\W*End of (?:the |this )?Project Gutenberg.*$|^.*START: FULL LICENSE.*$",
    re.M | re.I,
)
_ABBREVIATIONS = "Mr Mrs Dr St M Mme Messrs Capt Col Gen Rev Hon Esq Lieut [A-Z]".split()  # noqa: SIM905
_NO_END = "".join(rf"(?<!\b{word}\.)" for word in _ABBREVIATIONS)
_BETWEEN = re.compile(
    _NO_END + r"(?<=[.!?])[\"'”’)]{0,2}\s+(?=[\"'“‘(]{0,2}[A-Z])|(?<=[.!?][\"”])\s+(?=[\"“‘'(]?[A-Z])"
)
_CREDITS = re.compile(
    r"gutenberg|e-?text|transcrib|proofread|produced by|copyright|pgdp|e-?book|scanned by|archive\.org|http", re.I
)
_MARKS = re.compile(
    r"\[(?:Illustration|Footnote|Sidenote|Transcriber)[^\]]*\]?|\[[\d*]+\]|\{\d+\}|<[^>]{1,80}>|[_*|=~^#]"
)


@dataclass(frozen=True)
class Book:
    """A file. `number` is Project Gutenberg's, "" if it does not say."""

    path: str
    author: str
    names: frozenset[str]  # by the file's name and by its header
    number: str
    text: str


def folded(text: str) -> str:
    """Lower case without accents."""
    return "".join(c for c in unicodedata.normalize("NFD", text.lower()) if not unicodedata.combining(c))


def describe(path: str, text: str) -> Book | None:
    """What a file's name and header say of it; None if it is under copyright or in another language."""
    head = text[:6000]
    language = re.search(r"^Language: *(.+)$", head, re.M)
    if re.search(r"COPYRIGHTED Project Gutenberg", head, re.I) or (language and "english" not in language[1].lower()):
        return None
    file = path.rsplit("/", 1)[-1].removesuffix(".txt")
    author = file.split("___")[0] if "___" in file else path.split("/", 1)[0]
    title = re.search(r"^Title: *(.+)$", head, re.M)
    number = re.search(r"e-?(?:book|text) ?#(\d+)\]?", head, re.I)
    names = {file.split("___")[-1], *([title[1]] if title else [])}
    return Book(path, author, frozenset(names), number[1] if number else "", text)


def read_books(repository: Path) -> Iterator[Book]:
    """The texts in the newest commit of a git directory; objects that it lacks are passed over."""
    git = ["git", "-c", "safe.directory=*", f"--git-dir={repository}"]
    listing = subprocess.run([*git, "ls-tree", "-r", "-z", "-l", "HEAD"], capture_output=True, check=True).stdout
    with subprocess.Popen([*git, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as objects:
        assert objects.stdin is not None
        assert objects.stdout is not None
        for row in listing.split(b"\0")[:-1]:
            fields, name = row.split(b"\t", 1)
            _, _, key, size = fields.split()
            path = name.decode("utf-8", "replace")
            if not size.isdigit() or int(size) not in BYTES or NO_TEXT.search(path):
                continue
            objects.stdin.write(key + b"\n")
            objects.stdin.flush()
            answer = objects.stdout.readline().split()
            if answer[-1] == b"missing":
                continue
            data = objects.stdout.read(int(answer[2]))
            objects.stdout.read(1)
            if book := describe(path, decoded(data)):
                yield book


def decoded(data: bytes) -> str:
    """UTF-8, else Windows' Latin letters; lines end in `\\n`."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def body(text: str) -> str:
    """A book without Project Gutenberg's header and licence."""
    begin, found = 0, _START.search(text, 0, 30_000)
    while found and found.end() < 40_000:
        begin, found = found.end(), _START.search(text, found.end(), 40_000)
    text = text[begin:]
    stop = _STOP.search(text, max(0, len(text) - 60_000)) or _STOP.search(text, len(text) // 2)
    return text[: stop.start()] if stop else text


def sentences(text: str) -> list[str]:
    """The sentences of a book's paragraphs; headings, tables and credits are no paragraphs."""
    out: list[str] = []
    for paragraph in re.split(r"\n\s*\n", body(text)):
        line = " ".join(_MARKS.sub(" ", paragraph).split())
        letters = sum(map(str.isalpha, line))
        if letters < 8 or letters < 0.6 * len(line) or _CREDITS.search(line):
            continue
        if sum(map(str.isupper, line)) > 0.4 * letters:
            continue
        out += [s for s in _BETWEEN.split(line) if s]
    return out
