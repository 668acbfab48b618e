"""What was heard of an answer becomes a segment of the call's record: its words as they are written, in their time."""

from __future__ import annotations

from typing import Any

import pytest
from cloud.replies import conversation, heard
from cloud.replies.conversation import Conversation
from speech.text.transcript import Transcript, to_text
from speech.tts.marks import TimedSpan


def spans(*places: tuple[int, int, float, float]) -> list[TimedSpan]:
    return [TimedSpan("word", start_s, start, end, end_s=end_s) for start, end, start_s, end_s in places]


def test_words_are_as_they_are_written_and_end_where_nobody_listened_any_more() -> None:
    text = 'It is "$25", well-made \N{EM DASH} yes.'
    spoken = spans(
        (0, 2, 0.0, 0.2), (3, 5, 0.2, 0.4), (7, 10, 0.5, 0.7), (7, 10, 0.7, 0.9), (7, 10, 0.9, 1.3),
        (13, 17, 1.5, 1.8), (18, 22, 1.8, 2.1), (25, 28, 2.3, 2.9),
    )  # fmt: skip
    assert heard.words(text, spoken, 2.5) == (
        ("It", 0.0, 0.2), ("is", 0.2, 0.4), ('"$25",', 0.5, 1.3), ("well-made", 1.5, 2.1), ("\N{EM DASH}", 2.1, 2.1),
        ("yes.", 2.3, 2.5),
    )  # fmt: skip
    assert heard.words("", [], 0.0) == ()


def reply(*words: tuple[str, float, float], **more: Any) -> dict[str, Any]:
    return {"type": "reply_end", "reply": "1-1", "left_at_s": 110.5, "words": [list(word) for word in words], **more}


def test_a_reply_stands_in_the_calls_clock_with_its_punctuation() -> None:
    words = (('"$25",', 0.0, 0.5), ("please!", 0.5, 1.0), ("C++", 1.0, 1.25), ("...", 1.25, 1.25))
    final = heard.final(3, reply(*words), origin_s=100.0)
    assert final is not None
    assert (final.segment, final.start_s, final.end_s, final.text) == (3, 10.5, 11.75, '"$25", please! C++...')
    assert final.raw_text == '"$25" please c++'
    assert [(token.text, token.kind) for token in final.tokens] == [
        ('"$25"', "word"), (",", "punctuation"), ("please", "word"), ("!", "punctuation"), ("C++", "word"),
        ("...", "punctuation"),
    ]  # fmt: skip
    assert [(word.start_s, word.end_s) for word in final.words] == [(10.5, 11.0), (11.0, 11.5), (11.5, 11.75)]
    assert heard.final(0, reply(left_at_s=None), origin_s=100.0) is None


@pytest.mark.parametrize(("speakers", "names"), [
    (("customer", "agent", "reply"), ["customer", "agent", "reply"]),
    (("unknown", "reply"), ["ch_0", "reply"]),
    (("unknown", "unknown", "reply"), ["ch_0", "ch_1", "reply"]),
    (("agent", "agent", "reply"), ["ch_0", "ch_1", "reply"]),
    ((), ["ch_0", "ch_1"]),
])  # fmt: skip
def test_a_speaker_who_is_known_is_named_whoever_the_others_are(speakers: tuple[str, ...], names: list[str]) -> None:
    final = heard.final(0, reply(("Yes.", 0.0, 0.5)), 100.0)
    assert final is not None
    silent = len(names) - 1
    transcript = Transcript(5.0, (*[()] * silent, (final,)), speakers=speakers)
    assert transcript.names() == names
    assert to_text(transcript) == f"{names[-1]}: Yes.\n"


def test_a_conversation_keeps_the_newest_replies_that_find_room_in_a_table_item() -> None:
    kept = Conversation()
    for number in range(300):
        kept.keep(reply(*[("word", 0.0, 0.1)] * 20, reply=f"1-{number}"))
    again = Conversation.from_json(kept.to_json())
    assert again == kept
    assert again.replies[-1]["reply"] == "1-299"
    assert 20 < len(again.replies) < 100
    assert len(again.to_json()) < conversation.KEPT_BYTES + 1000
    kept.keep(reply(*[("word", 0.0, 0.1)] * 2000))
    assert len(kept.replies) == 1
