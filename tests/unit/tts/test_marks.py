"""Speech marks are Polly's lines: milliseconds, byte offsets, in order of time."""

from __future__ import annotations

from speech.tts.marks import TimedSpan, speech_marks

TEXT = "Café: $25."
SPANS = [
    TimedSpan("word", 0.1, 0, 4),
    TimedSpan("word", 0.5, 6, 9),
    TimedSpan("word", 0.9, 6, 9),
    TimedSpan("word", 1.2, 6, 9),
    TimedSpan("sentence", 0.1, 0, 10),
    TimedSpan("phoneme", 0.1, 0, 4, "k"),
    TimedSpan("ssml", 0.5, 0, 4, "here"),
]


def test_lines_are_pollys() -> None:
    assert speech_marks(TEXT, SPANS) == [
        '{"time":100,"type":"sentence","start":0,"end":11,"value":"Café: $25."}',
        '{"time":100,"type":"word","start":0,"end":5,"value":"Café"}',
        '{"time":100,"type":"phoneme","value":"k"}',
        '{"time":500,"type":"ssml","start":0,"end":5,"value":"here"}',
        '{"time":500,"type":"word","start":7,"end":10,"value":"$25"}',
    ]


def test_only_the_wanted_types_are_written() -> None:
    assert [line.split('"')[5] for line in speech_marks(TEXT, SPANS, ["word"])] == ["word", "word"]
    assert speech_marks(TEXT, []) == []
