"""A transcript as Amazon Transcribe's job JSON, as text, and as a line of JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from speech.events import Alternative
from speech.text.transcript import Transcript, to_json_line, to_text, to_transcribe_json
from speech.text.word_filter import WordFilter

from tests.unit.text.conftest import final

ONE = Transcript(3.2, ((final("it costs twenty five dollars", 0.5), final("thank you", 2.25, 1)),))
TWO = Transcript(
    9.0, ((final("hello there", 0.5), final("how may i help", 4.0, 1)), (final("hi", 2.0), final("i am fine", 6.0, 1)))
)


def document(transcript: Transcript) -> dict[str, Any]:
    return json.loads(json.dumps(to_transcribe_json(transcript, job_name="job", account_id="111122223333")))


def test_the_document_has_the_keys_of_a_transcribe_job() -> None:
    found = document(ONE)
    assert [found[key] for key in ("jobName", "accountId", "status")] == ["job", "111122223333", "COMPLETED"]
    assert set(found["results"]) == {"transcripts", "items", "audio_segments", "raw_words"}
    assert found["results"]["transcripts"] == [{"transcript": "It costs $25. Thank you."}]


def test_items_are_numbered_and_have_their_times_as_text() -> None:
    items = document(ONE)["results"]["items"]
    assert [item["id"] for item in items] == list(range(7))
    assert items[2] == {
        "id": 2,
        "type": "pronunciation",
        "alternatives": [{"confidence": "0.9", "content": "$25"}],
        "start_time": "1.1",
        "end_time": "2.0",
    }


def test_punctuation_has_no_times_and_no_confidence() -> None:
    assert document(ONE)["results"]["items"][3] == {
        "id": 3,
        "type": "punctuation",
        "alternatives": [{"confidence": "0.0", "content": "."}],
    }


def test_segments_name_their_items() -> None:
    segments = document(ONE)["results"]["audio_segments"]
    assert segments == [
        {"id": 0, "transcript": "It costs $25.", "start_time": "0.5", "end_time": "2.0", "items": [0, 1, 2, 3]},
        {"id": 1, "transcript": "Thank you.", "start_time": "2.25", "end_time": "2.85", "items": [4, 5, 6]},
    ]


def test_the_spoken_words_stay_beside_the_written_ones() -> None:
    words = document(ONE)["results"]["raw_words"]
    assert [word["content"] for word in words] == ["it", "costs", "twenty", "five", "dollars", "thank", "you"]
    assert words[0] == {"content": "it", "start_time": "0.5", "end_time": "0.8", "confidence": "0.9"}


def test_channels_are_labelled_and_in_time() -> None:
    results = document(TWO)["results"]
    assert results["transcripts"][0]["transcript"] == "Hello there. Hi. How may I help. I am fine."
    assert results["channel_labels"]["number_of_channels"] == 2
    by_label = {channel["channel_label"]: channel["items"] for channel in results["channel_labels"]["channels"]}
    assert [item["alternatives"][0]["content"] for item in by_label["ch_1"]] == ["Hi", ".", "I", "am", "fine", "."]
    assert sorted(item["id"] for items in by_label.values() for item in items) == [i["id"] for i in results["items"]]
    assert {item["channel_label"] for item in results["items"]} == {"ch_0", "ch_1"}
    assert [segment["channel_label"] for segment in results["audio_segments"]] == ["ch_0", "ch_1", "ch_0", "ch_1"]


def test_a_consumer_can_rebuild_the_text_from_the_items() -> None:
    for transcript in (ONE, TWO):
        results = document(transcript)["results"]
        text = ""
        for item in results["items"]:
            content = item["alternatives"][0]["content"]
            text += content if item["type"] == "punctuation" else " " + content
        assert text.strip() == results["transcripts"][0]["transcript"]


def test_silence_gives_an_empty_transcript() -> None:
    results = document(Transcript(5.0, ((),)))["results"]
    assert results["transcripts"] == [{"transcript": ""}]
    assert results["items"] == results["audio_segments"] == []


def test_warnings_are_passed_on() -> None:
    found = document(Transcript(5.0, ((),), warnings=("the file is truncated",)))
    assert found["results"]["warnings"] == ["the file is truncated"]


def test_text_begins_a_paragraph_after_a_long_silence() -> None:
    near = (final("one", 0.0), final("two", 1.0, 1), final("three", 9.0, 2))
    assert to_text(Transcript(10.0, (near,))) == "One. Two.\n\nThree.\n"


def test_text_of_several_channels_is_a_dialogue() -> None:
    assert to_text(TWO) == "ch_0: Hello there.\n\nch_1: Hi.\n\nch_0: How may I help.\n\nch_1: I am fine.\n"
    assert to_text(TWO, ["Agent", "Caller"]).startswith("Agent: Hello there.\n\nCaller: Hi.")


def test_text_of_silence_is_empty() -> None:
    assert to_text(Transcript(5.0, ((),))) == ""
    assert to_text(Transcript(0.0, ())) == ""


def test_a_line_of_json_has_what_the_command_line_promises() -> None:
    line = to_json_line(ONE, "a.wav", rtf=0.01234567)
    assert line["path"] == "a.wav"
    assert line["text"] == "It costs $25. Thank you."
    assert line["raw_text"] == "it costs twenty five dollars thank you"
    assert line["words"][0] == {"word": "it", "start_s": 0.5, "end_s": 0.8, "confidence": 0.9}
    assert (line["duration_s"], line["rtf"]) == (3.2, 0.0123)


def test_alternatives_are_segments_as_transcribe_writes_them() -> None:
    heard, other = final("thank you", 2.25), final("think you", 2.25)
    said = replace(heard, alternatives=(Alternative(other.words, other.tokens),))
    results = document(Transcript(3.2, ((said, final("bye", 5.0)),)))["results"]
    first, second = results["segments"]
    assert (first["start_time"], first["end_time"]) == ("2.25", "2.85")
    assert [one["transcript"] for one in first["alternatives"]] == ["Thank you.", "Think you."]
    assert first["alternatives"][1]["items"][0] == {
        "type": "pronunciation",
        "confidence": "0.9",
        "content": "Think",
        "start_time": "2.25",
        "end_time": "2.55",
    }
    assert first["alternatives"][0]["items"][2] == {"type": "punctuation", "confidence": "0.0", "content": "."}
    assert [one["transcript"] for one in second["alternatives"]] == ["Bye."]
    assert "segments" not in document(ONE)["results"]


def test_words_that_a_filter_tagged_are_marked() -> None:
    tagged = WordFilter.read(["costs", "five"], "tag").final(final("it costs twenty five dollars", 0.5))
    results = document(Transcript(3.2, ((tagged,),)))["results"]
    marked = [item["alternatives"][0]["content"] for item in results["items"] if item.get("vocabularyFilterMatch")]
    assert marked == ["costs", "$25"]
    assert [word["content"] for word in results["raw_words"] if word.get("vocabularyFilterMatch")] == ["costs", "five"]
