"""Speech markup is read in a safe subset; what is wrong is refused with its position."""

from __future__ import annotations

import pytest
from speech.errors import BadText
from speech.tts import ssml
from speech.tts.prosody import Prosody
from speech.tts.script import Script
from speech.tts.ssml_items import Break, Mark, Run, Words

from tests.unit.tts.conftest import shown
from tests.unit.tts.tiny import pronouncer


def speak(body: str) -> str:
    return f"<speak>{body}</speak>"


def spoken(body: str) -> str:
    clauses = Script(pronouncer()).markup(speak(body))
    return " | ".join(shown([p.word for p in clause.words]) for clause in clauses)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("", ""),
        ("Hello world.", "hello world."),
        ("Hello <prosody rate='slow'>big</prosody>, world", "hello big, world"),
        ("<p><s>One</s><s>Two</s></p>Three", "one | two | three"),
        ("One<break time='1s'/>two", "one | two"),
        ("R&amp;D &lt; 5", "R and D less than five"),
        ("<![CDATA[a < b]]>", "a less than B"),
        ("<say-as interpret-as='digits'>405</say-as>", "four zero five"),
        ("<say-as interpret-as='characters'>a-1</say-as>", "A dash one"),
        ("<say-as interpret-as='spell-out'>fbi</say-as>", "F B I"),
        ("<say-as interpret-as='cardinal'>1234</say-as>", "one thousand two hundred thirty four"),
        ("<say-as interpret-as='ordinal'>3</say-as>", "third"),
        ("<say-as interpret-as='ordinal'>XIV</say-as>", "fourteenth"),
        ("<say-as interpret-as='date' format='mdy'>3/4/2024</say-as>", "march fourth, twenty twenty four"),
        ("<say-as interpret-as='date' format='dmy'>3/4/2024</say-as>", "april third, twenty twenty four"),
        ("<say-as interpret-as='date' format='md'>12/25</say-as>", "december twenty fifth"),
        ("<say-as interpret-as='date' format='yyyymmdd'>20240304</say-as>", "march fourth, twenty twenty four"),
        ("<say-as interpret-as='time' format='hms12'>9:05am</say-as>", "nine oh five A M"),
        ("<say-as interpret-as='time'>1'21\"</say-as>", "one minute twenty one seconds"),
        ("<say-as interpret-as='telephone'>800-555-0199</say-as>", "eight hundred, five five five, zero one nine nine"),
        ("<say-as interpret-as='currency'>$4.20</say-as>", "four dollars and twenty cents"),
        ("<sub alias='World Wide Web Consortium'>W3C</sub> here", "world wide web consortium here"),
        ("<phoneme ph='təmˈɑɾO'>tomato</phoneme>.", "tomato."),
        ("<!-- silent --> x", "X"),
    ],
)
def test_markup_says(body: str, words: str) -> None:
    assert spoken(body) == words


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "line 1, column 1"),
        ("hello", "line 1, column 1"),
        ("<speak>", "line 1, column 8"),
        ("<speak><p></speak>", "mismatched tag"),
        ("<p>x</p>", "expected <speak> around everything"),
        ("<speak><speak/></speak>", "expected <speak> around everything"),
        ("<speak>\n <audio src='x'/></speak>", r"line 2, column 2 \(offset 9\): <audio> is not known"),
        ("<speak><break tme='1s'/></speak>", "<break> has no attribute 'tme'"),
        ("<speak><break time='1 h'/></speak>", "time='1 h'; expected 0ms to 10s"),
        ("<speak><break time='11s'/></speak>", "expected 0ms to 10s"),
        ("<speak><break strength='huge'/></speak>", "expected one of none, x-weak"),
        ("<speak><break>x</break></speak>", "<break> holds text"),
        ("<speak><prosody>x</prosody></speak>", "needs one of rate, pitch, volume"),
        ("<speak><prosody rate='900%'>x</prosody></speak>", "rate='900%'; expected x-slow"),
        ("<speak><prosody pitch='up'>x</prosody></speak>", "pitch='up'; expected x-low"),
        ("<speak><prosody volume='+90dB'>x</prosody></speak>", "-20dB to"),
        ("<speak><say-as>x</say-as></speak>", "needs the attribute 'interpret-as'"),
        ("<speak><say-as interpret-as='song'>x</say-as></speak>", "'song' is not known"),
        ("<speak><say-as interpret-as='date' format='mdy'>13/45/2024</say-as></speak>", "cannot be read as date"),
        ("<speak><say-as interpret-as='digits'>abc</say-as></speak>", "cannot be read as digits"),
        ("<speak><say-as interpret-as='digits'>1<break/></say-as></speak>", "holds no elements"),
        ("<speak><phoneme ph='7'>x</phoneme></speak>", "'7' at position 0"),
        ("<speak><phoneme alphabet='sampa' ph='a'>x</phoneme></speak>", "expected one of ipa, misaki"),
        ("<speak><sub alias='...'>x</sub></speak>", "has no words"),
        ("<!DOCTYPE speak><speak/>", "document type"),
        ('<!DOCTYPE s [<!ENTITY a "x"><!ENTITY b "&a;&a;">]><speak>&b;</speak>', "document type"),
        ("<?php x ?><speak/>", "processing instruction"),
        ("<speak>&nbsp;</speak>", "undefined entity"),
        ("<speak>\x00</speak>", "not well-formed"),
        ("<speak>\ud800</speak>", "surrogate"),
        (speak("<p>" * 40), "more than 32 elements inside each other"),
        (speak("<break/>" * 10_001), "more than 10000 elements"),
        (speak("x" * 100_001), "at most 100000 are allowed"),
    ],
)
def test_what_is_wrong_is_refused_with_its_position(source: str, message: str) -> None:
    with pytest.raises(BadText, match=message):
        ssml.parse(source)


def test_places_are_those_of_the_markup() -> None:
    source = speak("Café &amp; <prosody volume='loud'>hello</prosody> <sub alias='five dogs'>5d</sub>")
    clauses = Script(pronouncer()).markup(source)
    places = [(p.word.text, source[p.word.start : p.word.end]) for clause in clauses for p in clause.words]
    assert places == [("cafe", "Café"), ("and", "&amp;"), ("hello", "hello"), ("five", "5d"), ("dogs", "5d")]


def test_prosody_nests() -> None:
    items = ssml.parse(
        speak(
            "<prosody rate='fast' pitch='+2st'>a<prosody rate='80%' pitch='+12st' volume='soft'>b</prosody></prosody>c"
        )
    )
    runs = [item.prosody for item in items if isinstance(item, Run)]
    assert runs == [Prosody(1.25, 2.0, 0.0), Prosody(1.0, 12.0, -6.0), Prosody()]


def test_breaks_and_marks_are_kept_in_order() -> None:
    source = speak("<mark name='start'/>Hello<mark name='mid'/> world<break time='300ms'/><mark name='end'/>")
    kinds = [type(item) for item in ssml.parse(source) if not isinstance(item, Words)]
    assert kinds == [Mark, Run, Mark, Run, Break, Mark]
    first, last = Script(pronouncer()).markup(source)
    assert [(mark.name, mark.before_word) for mark in first.marks] == [("start", 0), ("mid", 1)]
    assert (first.pause_s, last.words, [mark.name for mark in last.marks]) == (0.3, (), ["end"])
    assert source[last.marks[0].start : last.marks[0].end] == "<mark name='end'/>"


def test_a_sign_after_an_element_belongs_to_its_last_word() -> None:
    assert spoken("<prosody rate='slow'>Hello</prosody>, world. <sub alias='it'>x</sub>!") == "hello, world. | it!"
