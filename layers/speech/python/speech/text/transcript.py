"""A finished transcript as Amazon Transcribe's job JSON, as plain text, and as one line of JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from speech.events import Final, Token, Word, join_tokens

PARAGRAPH_PAUSE_S = 2.0  # a longer silence starts a new paragraph in the text

Json = dict[str, Any]


@dataclass(frozen=True)
class Transcript:
    """All finals of a recording, a tuple for each channel in the channels' order."""

    duration_s: float  # seconds of audio
    channels: tuple[tuple[Final, ...], ...]
    warnings: tuple[str, ...] = ()  # for example that the file was truncated
    language: str = "en-US"
    speakers: tuple[str, ...] = ()  # who is heard on each channel, where that is known: "customer", "agent"

    def names(self) -> list[str]:
        """What to call the channels before people: by their speakers, where these are known and no two the same."""
        speakers = self.speakers or ("unknown",) * len(self.channels)
        return [
            channel_label(channel) if who == "unknown" or speakers.count(who) > 1 else who
            for channel, who in enumerate(speakers)
        ]

    def in_time(self) -> list[tuple[int, Final]]:
        """(channel, final) of every segment by its start; channels that start together in the channels' order."""
        found = [(channel, final) for channel, finals in enumerate(self.channels) for final in finals]
        return sorted(found, key=lambda pair: (pair[1].start_s, pair[0]))

    def words(self) -> list[Word]:
        """The spoken words of every channel, segments by their start."""
        return [word for _, final in self.in_time() for word in final.words]


def channel_label(channel: int) -> str:
    """Amazon Transcribe's name of a channel, counted from 0."""
    return f"ch_{channel}"


def to_transcribe_json(
    transcript: Transcript, job_name: str, account_id: str = "", identify_channels: bool | None = None
) -> Json:
    """The document that an Amazon Transcribe batch job writes, so that its consumers read it unchanged.

    Format: Amazon Transcribe Developer Guide, "Data input and output" and "Example channel identification output
    (batch)": times and confidences are strings, punctuation has no times, `audio_segments` name items by id. Words that
    a vocabulary filter tagged have `vocabularyFilterMatch`; `segments` are there where alternatives were found, each
    with what was heard first and the others after it.
    `results.raw_words`, `results.warnings` and `results.speakers` (who is heard on which channel, of calls) are
    additions that such a consumer passes over.
    `identify_channels`: label the channels; as a rule, when there are several.
    """
    labelled = len(transcript.channels) > 1 if identify_channels is None else identify_channels
    items: list[Json] = []
    segments: list[Json] = []
    for channel, final in transcript.in_time():
        label = {"channel_label": channel_label(channel)} if labelled else {}
        first = len(items)
        items += [_item(first + i, token) | label for i, token in enumerate(final.tokens)]
        segments.append(_segment(len(segments), final, range(first, len(items))) | label)
    results: Json = {"transcripts": [{"transcript": " ".join(s["transcript"] for s in segments if s["transcript"])}]}
    if labelled:
        results["channel_labels"] = _channel_labels(items, len(transcript.channels))
    results |= {"items": items, "audio_segments": segments, "raw_words": _raw_words(transcript, labelled)}
    if any(final.alternatives for _, final in transcript.in_time()):
        results["segments"] = _alternatives(transcript, labelled)
    if transcript.speakers:
        results["speakers"] = {channel_label(channel): who for channel, who in enumerate(transcript.speakers)}
    if transcript.warnings:
        results["warnings"] = list(transcript.warnings)
    return {"jobName": job_name, "accountId": account_id, "status": "COMPLETED", "results": results}


def _item(number: int, token: Token) -> Json:
    if token.kind == "punctuation":
        return {"id": number, "type": "punctuation", "alternatives": [{"confidence": "0.0", "content": token.text}]}
    return {
        "id": number,
        "type": "pronunciation",
        "alternatives": [{"confidence": _decimal(token.confidence), "content": token.text}],
        "start_time": _decimal(token.start_s),
        "end_time": _decimal(token.end_s),
    } | ({"vocabularyFilterMatch": True} if token.filtered else {})


def _alternatives(transcript: Transcript, labelled: bool) -> list[Json]:
    found: list[Json] = []
    for channel, final in transcript.in_time():
        label = {"channel_label": channel_label(channel)} if labelled else {}
        ways = [(final.text, final.tokens), *((other.text, other.tokens) for other in final.alternatives)]
        times = {"start_time": _decimal(final.start_s), "end_time": _decimal(final.end_s)}
        found.append(
            times | {"alternatives": [{"transcript": t, "items": _flat(tokens)} for t, tokens in ways]} | label
        )
    return found


def _flat(tokens: Sequence[Token]) -> list[Json]:
    """Items as they stand in alternatives: content and confidence beside the times, without numbers."""
    items = []
    for token in tokens:
        item = _item(0, token)
        [inner] = item.pop("alternatives")
        del item["id"]
        items.append(item | inner)
    return items


def _segment(number: int, final: Final, items: Sequence[int]) -> Json:
    return {
        "id": number,
        "transcript": final.text,
        "start_time": _decimal(final.start_s),
        "end_time": _decimal(final.end_s),
        "items": list(items),
    }


def _channel_labels(items: Sequence[Json], channels: int) -> Json:
    labels = [channel_label(channel) for channel in range(channels)]
    by_label = [{"channel_label": x, "items": [item for item in items if item["channel_label"] == x]} for x in labels]
    return {"channels": by_label, "number_of_channels": channels}


def _raw_words(transcript: Transcript, labelled: bool) -> list[Json]:
    return [
        {
            "content": word.text,
            "start_time": _decimal(word.start_s),
            "end_time": _decimal(word.end_s),
            "confidence": _decimal(word.confidence),
        }
        | ({"vocabularyFilterMatch": True} if word.filtered else {})
        | ({"channel_label": channel_label(channel)} if labelled else {})
        for channel, final in transcript.in_time()
        for word in final.words
    ]


def _decimal(value: float) -> str:
    """Up to three decimals, at least one: "0.0", "4.86", "12.345"."""
    text = f"{value:.3f}".rstrip("0")
    return text + "0" if text.endswith(".") else text


def to_text(transcript: Transcript, labels: Sequence[str] | None = None) -> str:
    """Plain text, a paragraph for each turn: a long silence or another channel begins a new one.

    `labels`: names of the channels, their speakers or "ch_0", "ch_1" as a rule; one channel alone is not labelled.
    """
    if not transcript.channels:
        return ""
    names = labels or transcript.names()
    single = len(transcript.channels) == 1
    paragraphs = [text if single else f"{names[channel]}: {text}" for channel, text in _turns(transcript)]
    return "\n\n".join(paragraphs) + "\n" if paragraphs else ""


def _turns(transcript: Transcript) -> Iterator[tuple[int, str]]:
    """(channel, text) of each turn that has words."""
    tokens: list[Token] = []
    last_channel, last_end = 0, 0.0
    for channel, final in transcript.in_time():
        if tokens and (channel != last_channel or final.start_s - last_end > PARAGRAPH_PAUSE_S):
            yield last_channel, join_tokens(tuple(tokens))
            tokens = []
        tokens += final.tokens
        last_channel, last_end = channel, final.end_s
    if tokens:
        yield last_channel, join_tokens(tuple(tokens))


def to_json_line(transcript: Transcript, path: str, rtf: float) -> Json:
    """What the command line prints for one file; `rtf`: seconds of work per second of audio."""
    finals = [final for _, final in transcript.in_time()]
    return {
        "path": path,
        "text": " ".join(final.text for final in finals if final.text),
        "raw_text": " ".join(final.raw_text for final in finals if final.words),
        "words": [
            {
                "word": w.text,
                "start_s": round(w.start_s, 3),
                "end_s": round(w.end_s, 3),
                "confidence": round(w.confidence, 4),
            }
            for w in transcript.words()
        ],
        "duration_s": round(transcript.duration_s, 3),
        "rtf": round(rtf, 4),
    }
