"""A caller is answered turn by turn, breaks in, and outlives workers: real recogniser, synthesiser and threads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from cloud.calls.checkpoint import Checkpoint
from cloud.calls.leases import LostLease
from cloud.calls.session import Session, step
from cloud.live.told import Told
from cloud.replies.dialogue import GONE

from tests.stack.calls import talk
from tests.stack.replies import voice
from tests.stack.replies.line import FALLBACK, LONG, TURNS, Line, frames


@pytest.fixture
def line(request: pytest.FixtureRequest) -> Iterator[Line]:
    made = Line(*request.param)
    yield made
    made.end()


def scripted(*texts: str | None) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("line", [texts], indirect=True, ids=[""])


@scripted("Yes.", "No.")
def test_each_turn_is_answered_once_with_all_that_was_said(line: Line) -> None:
    for answer in ("yes", "no"):
        line.hear()
        line.over()
        assert line.turns[-1] == ("reply", answer)
    assert line.turns == [("caller", TURNS[0]), ("reply", "yes"), ("caller", TURNS[1]), ("reply", "no")]
    assert [turn.text for turn in line.responder.questions[1].turns[:2]] == [
        turn.text for turn in line.conversation.turns[:2]
    ]
    assert line.uploads.audio[: len(voice.spoken("Yes."))] == voice.spoken("Yes.")


@scripted("Yes, of course.")
def test_what_is_told_of_a_reply(line: Line) -> None:
    line.hear()
    told = line.over()
    kinds = [record["type"] for record in told]
    assert kinds[-1] == "reply_end"
    assert kinds.count("reply_start") == 1
    sounds = [record for record in told if record["type"] == "reply_audio"]
    assert [record["sequence"] for record in sounds] == list(range(len(sounds)))
    assert [word["text"] for record in sounds for word in record["words"]] == ["Yes", "of", "course"]
    assert {record["reply"] for record in told} == {"1-1"}
    [start] = [record for record in told if record["type"] == "reply_start"]
    assert 1.0 < start["turn_end_s"] < 2.0
    end = told[-1]
    assert (end["text"], end["interrupted"], end["failed"]) == ("Yes, of course.", False, "")
    assert (end["turn"], end["turn_end_s"]) == (start["turn"], start["turn_end_s"])
    assert end["left_at_s"] == start["left_at_s"]
    assert [word for word, _, _ in end["words"]] == ["Yes,", "of", "course."]
    assert [begin_s for _, begin_s, _ in end["words"]] == [w["start_s"] for r in sounds for w in r["words"]]
    assert line.conversation.replies == [end]
    json.dumps(told)


@scripted(LONG, "Yes.")
def test_the_caller_breaks_in_and_the_responder_hears_of_it(line: Line) -> None:
    line.hear()
    line.uploads.after(20)
    line.hear("partial")
    ended = line.over()[-1]
    sent = line.uploads.sent
    assert ended["interrupted"]
    assert 0 < len(ended["text"]) < len(LONG)
    line.hear()
    line.over()
    turns = line.responder.questions[1].turns
    assert [(turn.who, turn.interrupted) for turn in turns] == [("caller", False), ("reply", True), ("caller", False)]
    assert turns[1].text == ended["text"] == LONG[: len(ended["text"])]
    assert " ".join(word for word, _, _ in ended["words"]).startswith(ended["text"])
    assert ended["words"][-1][2] <= sent * 0.02
    assert line.uploads.sent == sent + frames("Yes.")


@scripted("Yes, of course.")
def test_the_agent_may_speak_meanwhile(line: Line) -> None:
    line.hear()
    line.uploads.after(5)
    line.dialogue.hear(
        line.session,
        [told(1, "partial", speaker="agent", words=[{}, {}]), told(1, "turn_end", number=99, reason="silence")],
    )
    assert not line.over()[-1]["interrupted"]


def told(channel: int, kind: str, **more: Any) -> Told:
    return {"type": kind, "channel": channel, **more}


@scripted(None, "Yes.")
def test_a_caller_who_goes_on_before_the_answer_is_asked_about_all_of_it(line: Line) -> None:
    line.hear()
    line.responder.asked.wait()
    line.hear("partial")
    assert line.responder.cancelled.is_set()
    line.over()
    line.hear()
    line.over()
    assert [turn.text.lower().rstrip(".") for turn in line.responder.questions[1].turns] == TURNS[:2]
    assert line.turns[-1] == ("reply", "yes")


@scripted("Yes.")
def test_of_turns_that_come_together_only_the_last_is_answered(line: Line) -> None:
    heard = list[Told]()
    while sum(record["type"] == "turn_end" and record["channel"] == 0 for record in heard) < 2:
        events, position = next(line._batches)
        line.session.take(events, position)
        heard += step([line.session]).get("call-7", [])
    line.dialogue.hear(line.session, heard)
    line.over()
    assert line.turns == [("caller", " ".join(TURNS[:2]).replace("dog go", "dog. go")), ("reply", "yes")]


@scripted("fails", "fails", "Yes.")
def test_a_responder_that_fails_is_heard_of_as_the_fallback(line: Line) -> None:
    line.hear()
    assert line.over()[-1]["failed"] == "HTTP status 500"
    assert line.turns[-1] == ("reply", "sorry")
    line.hear()
    line.over()
    assert line.turns[-1] == ("reply", "yes")


@scripted(LONG, "Yes.")
def test_a_worker_that_is_told_to_stop_leaves_the_rest_to_the_next(line: Line) -> None:
    line.hear()
    line.uploads.after(10)
    line.dialogue.put_down()
    line.dialogue.join(60)
    heard, rest = line.conversation.turns[-1].text, line.conversation.rest
    assert f"{heard} {rest}".replace(" ,", ",") == LONG
    line.take_over(resumed(line.session))
    line.over()
    assert [turn.text for turn in line.conversation.turns[-2:]] == [heard, rest]
    assert not line.conversation.speaking
    assert len(line.responder.questions) == 1
    line.hear()
    line.over()
    assert line.turns[-1] == ("reply", "yes")


def resumed(session: Session) -> Session:
    """The session as another worker takes it up."""
    return Session.resume(session.call, talk.RECOGNIZER, session.checkpoint())


@scripted(LONG, "Yes.")
@pytest.mark.parametrize("saved_before", [True, False])
def test_what_a_dead_worker_was_saying_is_not_repeated(line: Line, saved_before: bool) -> None:
    before = line.session.checkpoint()
    line.hear()
    line.uploads.after(10)
    claimed = line.noted[:1]
    after = line.session.checkpoint()
    line.end()  # a death writes nothing more
    line.noted, sent = claimed, line.uploads.sent
    line.take_over(Session.resume(line.session.call, talk.RECOGNIZER, before if saved_before else after))
    if saved_before:  # it hears again what the dead worker had heard and answered
        line._batches = talk.batches(talk.download(), 2000)
        line.hear()
    ends = [record for record in line.over() if record["type"] == "reply_end"]
    assert [(end["reply"], end["failed"]) for end in ends[-2:]] == [("1-1", GONE), ("2-1", "")]
    assert line.turns == [("caller", TURNS[0]), ("reply", "sorry")]
    assert line.uploads.sent <= sent + frames(FALLBACK)
    line.hear()
    line.over()
    assert line.turns[-2:] == [("caller", TURNS[1]), ("reply", "yes")]
    assert len(line.responder.questions) == 2


@scripted("Yes.", "No.")
@pytest.mark.parametrize("saved_before", [True, False])
def test_what_was_heard_before_a_death_stays_in_the_record_of_the_call(line: Line, saved_before: bool) -> None:
    before = line.session.checkpoint()
    line.hear()
    [end] = [record for record in line.over() if record["type"] == "reply_end"]
    line.session.replies.append(end)  # as the desk does with what it takes
    after = Checkpoint.from_bytes(line.session.checkpoint().to_bytes())
    line.take_over(Session.resume(line.session.call, talk.RECOGNIZER, before if saved_before else after))
    told = line.dialogue.take()
    assert told == ([end] if saved_before else [])  # whether anybody was told is not known
    line.session.replies += told
    transcript = line.session.transcript()
    assert transcript.speakers[-1] == "reply"
    [final] = transcript.channels[-1]
    begin_s = end["left_at_s"] - (line.session.origin_ms or 0) / 1000 + end["words"][0][1]
    assert (final.text, final.start_s) == ("Yes.", round(begin_s, 3))


@scripted("Yes.")
def test_a_turn_that_nobody_had_time_to_answer_is_answered_by_the_next(line: Line) -> None:
    line.dialogue.hear = lambda session, records: None  # type: ignore[method-assign]
    line.hear()
    line.take_over(resumed(line.session))
    line.over()
    assert line.turns == [("caller", TURNS[0]), ("reply", "yes")]


def noise(line: Line) -> None:
    """Something sounds like a word of the caller's, and turns out to be none."""
    number = line.conversation.answered + 1
    word = {"text": "uh", "start_s": 9.0, "end_s": 9.1, "confidence": 0.1}
    line.dialogue.hear(line.session, [told(0, "turn_start", number=number), told(0, "partial", words=[word])])
    line.dialogue.hear(line.session, [told(0, "partial", words=[])])
    line.dialogue.hear(line.session, [told(0, "turn_end", number=number + 1, reason="nothing_said", at_s=9.0)])


@scripted(LONG)
def test_after_a_noise_the_answer_goes_on_where_it_was(line: Line) -> None:
    line.hear()
    line.uploads.after(20)
    noise(line)
    line.over()
    first, rest = (turn.text for turn in line.conversation.turns[1:])
    assert f"{first} {rest}".replace(" ,", ",") == LONG
    assert len(line.responder.questions) == 1


@scripted(None, "Yes.")
def test_after_a_noise_a_responder_that_had_said_nothing_is_asked_again(line: Line) -> None:
    line.hear()
    line.responder.asked.wait()
    line.claimed.wait()
    noise(line)
    line.over()
    assert line.turns == [("caller", TURNS[0]), ("reply", "yes")]


@scripted("Yes.")
def test_the_end_of_a_call_is_not_answered(line: Line) -> None:
    line.hear("partial")
    line.dialogue.hear(line.session, line.session.finish())
    assert line.over() == []
    assert line.responder.questions == []


@scripted("Yes.")
def test_who_has_lost_the_call_says_nothing(line: Line) -> None:
    line.trouble = LostLease("call-7")
    line.hear()
    assert line.over()[-1]["text"] == ""
    assert line.uploads.sent == 0


@scripted("Yes.")
def test_a_table_that_cannot_be_written_does_not_silence_anybody(line: Line) -> None:
    line.trouble = OSError("no table")
    line.hear()
    assert line.over()[-1]["text"] == "Yes."
    assert line.uploads.sent > 0
