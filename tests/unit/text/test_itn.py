"""Spoken forms and what they are written as."""

from __future__ import annotations

import sys

import pytest
from speech.text.itn import normalise, written

EXAMPLES = """
# money
twenty five dollars | $25
it cost five dollars and twenty cents | it cost $5.20
five dollars fifty . | $5.50.
five dollars fifty people paid | $5 50 people paid
twenty cents | 20 cents
one dollar | $1
a dollar a day | a dollar a day
a hundred dollars | $100
a hundred bucks | a hundred bucks
one point eight million dollars in revenue | $1.8 million in revenue
a million dollars | $1 million
five hundred thousand dollars | $500,000
two thousand dollars | $2,000
two euros fifty | €2.50
ten pounds | 10 pounds
four pounds fifty , please | £4.50, please
eleven dollars and seventy five . | $11.75.
three hundred and six million dollars | $306 million
one million eight hundred and fifty thousand dollars | $1,850,000
five pounds and twenty pence | £5.20
three hundred million pounds | £300 million
# percent
sixty percent of them | 60% of them
five per cent | 5%
point five percent | 0.5%
sixty five point five percent | 65.5%
a hundred percent sure | 100% sure
minus two percent | -2%
twenty two and a half percent | 22.5%
the percent of people | the percent of people
# plain numbers
three point one four | 3.14
version two point oh | version 2.0
oh point five | 0.5
two million three hundred thousand people | 2,300,000 people
two million people | 2 million people
two and a half million | 2.5 million
two thousand people | 2,000 people
one thousand two hundred and fifty | 1,250
a hundred and five | 105
twelve hundred | 1,200
between one hundred and two hundred | between 100 and 200
fifteen to twenty people | 15 to 20 people
five million , six million | 5 million, 6 million
one hundred twenty five thousand | 125,000
forty five minutes | 45 minutes
three trillion | 3 trillion
zero | zero
# ordinals
the twenty first century | the 21st century
the forty second street | the 42nd street
one hundred first | 101st
the one hundredth day | the 100th day
the tenth time | the 10th time
the third time | the third time
two thirds of it | two thirds of it
# dates
may the fifth twenty twenty six | May 5, 2026
on may fifth , twenty twenty six , we met | on May 5, 2026, we met
on may fifth | on May 5
june first | June 1
july four . | July 4.
in june ten people came | in june 10 people came
the third of june nineteen ninety nine | the 3rd of June 1999
the third of june | the 3rd of June
in june twenty twenty one | in June 2021
june of two thousand nine | June of 2009
nineteen ninety nine | 1999
nineteen oh five | 1905
nineteen hundred | 1900
two thousand and six | 2006
in two thousand | in 2000
in the nineteen nineties | in the 1990s
twenty twenty | 2020
seventeen seventy six | 1776
march second is when | march second is when
# times
half past nine | 9:30
a quarter to ten | 9:45
a quarter to one | 12:45
ten past nine | 9:10
ten minutes to nine | 8:50
ten to fifteen people | 10 to 15 people
nine thirty a m | 9:30 AM
nine thirty pm | 9:30 PM
nine a m | 9 AM
at nine oh five | at 9:05
ten o'clock | 10 o'clock
nine o'clock | 9 o'clock
at six twenty | at 6:20
at fourteen thirty | at 14:30
by nineteen fifty five | by 1955
at twenty three oh five | at 23:05
room four fifteen | room 415
half past | half past
# digit strings and telephone numbers
five five five oh one two three | 555-0123
five five five one two three four five six seven | 555-123-4567
one eight hundred five five five one two one two | 1-800-555-1212
double five one two three | 55123
triple zero | triple zero
one two three | 123
one , two , three | one, two, three
oh one two | 012
seven forty seven | 747
four ninety nine | 499
nine one one | 911
twenty two oh my god | 22 oh my god
oh no | oh no
# letters, titles, fixed forms
a b c | ABC
i b m and a u s company | IBM and a US company
the u s i think | the US I think
vitamin c i think | vitamin c i think
plan b | plan b
mister smith and missus jones | Mr. smith and Mrs. jones
hey mister | hey mister
the doctor is in | the doctor is in
covid nineteen vaccine | COVID-19 vaccine
q three results | Q3 results
example dot com | example.com
twenty four seven | 24/7
# measures
five kilometers | 5 kilometers
one mile | one mile
minus five degrees | -5 degrees
three point five megabytes | 3.5 megabytes
# prose
one of them | one of them
second to none | second to none
no one knows | no one knows
may i help you | may i help you
you may first want to sit | you may first want to sit
for sure | for sure
one on one | one on one
i have two sons and three daughters | i have two sons and three daughters
a thousand times no | a thousand times no
hundreds of thousands | hundreds of thousands
the point is | the point is
first of all | first of all
a second please | a second please
oh point taken | oh point taken
he won | he won
the seven of us at five | the seven of us at five
march on | march on
it is a half day | it is a half day
"""

TABLE = [tuple(part.strip() for part in row.split("|")) for row in EXAMPLES.splitlines() if "|" in row]


@pytest.mark.parametrize(("spoken", "expected"), TABLE)
def test_spoken_words_are_written_as(spoken: str, expected: str) -> None:
    assert written(spoken) == expected


def test_doctor_is_a_title_only_before_a_name() -> None:
    words = ["the", "doctor", "saw", "doctor", "smith"]
    assert [p.text for p in normalise(words, names={4})] == ["the", "doctor", "saw", "Dr.", "smith"]


@pytest.mark.parametrize("spoken", [spoken for spoken, _ in TABLE])
def test_pieces_cover_every_word_once_and_in_order(spoken: str) -> None:
    words = spoken.split()
    pieces = normalise(words)
    assert [p.start for p in pieces] == [0, *(p.end for p in pieces[:-1])]
    assert pieces[-1].end == len(words)


def test_a_sign_between_two_numbers_keeps_them_apart() -> None:
    assert written("twenty . five dollars") == "20. $5"


def test_the_work_is_linear_even_for_endless_digits() -> None:
    def calls(count: int) -> int:
        """Function calls, counted: a clock would also measure what else the machine does."""
        words, seen = ["five", "hundred", "thousand", "and", "a"] * count, 0

        def count_call(*_: object) -> None:
            nonlocal seen
            seen += 1

        sys.setprofile(count_call)
        try:
            normalise(words)
        finally:
            sys.setprofile(None)
        return seen

    assert calls(800) < 10 * calls(100)
