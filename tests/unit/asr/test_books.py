"""Books as text for the language model: no licence, no heading, nothing that a test set reads, nothing twice."""

from __future__ import annotations

import lzma
import subprocess
from pathlib import Path

import pytest

from models.asr import books
from models.asr.book_text import Book, describe, read_books, sentences
from models.asr.books import HeldOut, Library, Writer, chosen, plain

CHAPTERS = [
    "; a comment | with | bars",
    "111 | 19 | 5.0 | dev-clean | 9 | 1004 | Canto I | Divine Comedy",
    "112 | 20 | 5.0 | test-other | 9 | 135 | Book 1 | Miserables Vol. 2",
    "113 | 21 | 5.0 | train-clean-100 | 9 | 45 | One | Anne of Green Gables",
    "114 | 22 | 5.0 | train-clean-100 | 9 | 46 | One | Christmas Carol",
    "115 | 23 | 5.0 | dev-other | 9 | 1608 | One | Camille",
]
TRANSCRIPT = "he went to the old mill by the river and waited there for a friend who never came"
SAID = "It was in the year that he came to the city, and he was as glad of it as a child is of the sun."


def held_out() -> HeldOut:
    return HeldOut(CHAPTERS, {"22"}, [TRANSCRIPT])


def book(text: str, *names: str, number: str = "") -> Book:
    return Book("A/B.txt", "A", frozenset(names or {"B"}), number, text)


def story(seed: str) -> str:
    return "\n\n".join(
        f"The {seed} of the {n} days was {seed}{'xyz'[n % 3] * (n % 50 + 1)} and it was {n} to a man."
        for n in range(250)
    )


FILE = """The Project Gutenberg EBook of A Tale, by Somebody [EBook #77]

Title: A Tale

Language: English

*** START OF THIS PROJECT GUTENBERG EBOOK A TALE ***

Produced by Somebody Kind

CHAPTER THE FIRST

1  ....... 12  ...... 44

"Good day," said Mr. Smith.  "You are _late_,
sir![3] Come in." [Illustration: a door]

He came in. {12}

*** END OF THIS PROJECT GUTENBERG EBOOK A TALE ***

You may copy it, give it away or re-use it.
"""


def test_a_book_becomes_its_sentences() -> None:
    assert sentences(FILE) == ['"Good day," said Mr. Smith.', '"You are late , sir!', 'Come in."', "He came in."]


def test_header_and_name_say_what_a_book_is() -> None:
    found = describe("Some Body/Tale.txt", FILE)
    assert found is not None
    assert (found.author, found.names, found.number) == ("Some Body", {"Tale", "A Tale"}, "77")
    other = describe("txt/Jane Doe___Her Tale.txt", "Chapter I")
    assert other is not None
    assert (other.author, other.names, other.number) == ("Jane Doe", {"Her Tale"}, "")
    assert describe("a.txt", FILE.replace("English", "French")) is None
    assert describe("a.txt", "This is a COPYRIGHTED Project Gutenberg eBook") is None


@pytest.mark.parametrize(
    ("title", "short"),
    [("Les Misérables, Vol. 2", "miserables"), ("The Old-Fashioned Girl (version 2)", "old fashioned girl")],
)
def test_titles_are_compared_without_volume_article_and_accents(title: str, short: str) -> None:
    assert plain(title) == short


@pytest.mark.parametrize(
    ("name", "number", "held"),
    [
        ("Another", "1004", True),
        ("The Divine Comedy, Illustrated", "", True),
        ("Les Misérables", "", True),
        ("A Christmas Carol", "", True),  # of a reader who is held out
        ("Anne of Green Gables", "45", False),  # of the training set
        ("Camille", "", True),
        ("Camille and Others", "", False),  # one word may be in any title
    ],
)
def test_books_of_the_test_sets_are_left_out(name: str, number: str, held: bool) -> None:
    assert held_out().named(book("", name, number=number)) is held


def test_lines_that_share_six_words_with_a_transcript_go_and_with_ten_the_book() -> None:
    few = story("end") + "\n\nThen she came and waited there for a friend of hers.\n\n" + SAID
    lines = chosen(book(few), held_out(), Library())
    assert not any("waited there" in line for line in lines)
    assert SAID in lines
    many = story("end") + "\n\n" + TRANSCRIPT.capitalize() + "."
    assert chosen(book(many), held_out(), Library()) == "shares text with the transcripts"


def test_nothing_is_taken_twice() -> None:
    library = Library()
    library.learn([SAID])
    lines = chosen(book(story("end") + "\n\n" + SAID + "\n\nYes, said he.\n\nYes, said he."), held_out(), library)
    assert SAID not in lines
    assert lines.count("Yes, said he.") == 2
    assert chosen(book(story("end")), held_out(), library) == "seen before"


def test_what_is_short_or_foreign_is_no_book() -> None:
    assert chosen(book(SAID), held_out(), Library()) == "short, verse or not English"
    foreign = "\n\n".join(f"Der Mann{n} ging durch den Wald{n} und sah niemanden dort." for n in range(500))
    assert chosen(book(foreign), held_out(), Library()) == "short, verse or not English"


def test_books_are_read_from_a_git_directory(tmp_path: Path) -> None:
    run = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*run, "init", "-q"], check=True)
    (tmp_path / "One.txt").write_bytes(FILE.replace("late", "lâte").encode("cp1252") + b" " * 15_000)
    (tmp_path / "Small.txt").write_text(FILE)
    (tmp_path / "notes.md").write_text("x" * 20_000)
    subprocess.run([*run, "add", "."], check=True)
    subprocess.run([*run, "commit", "-q", "-m", "books"], check=True)
    [found] = read_books(tmp_path / ".git")
    assert found.path == "One.txt"
    assert "lâte" in found.text


def test_files_are_cut_between_books(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(books, "PART_BYTES", 10)
    writer = Writer(tmp_path / "books_x")
    for lines in (["one", "two", "three"], ["four"]):
        writer.write(lines)
    writer.flush()
    read = [lzma.decompress((tmp_path / f"books_x_{n}.txt.xz").read_bytes()).decode() for n in (1, 2)]
    assert read == ["one\ntwo\nthree\n", "four\n"]
    assert writer.parts == 2
