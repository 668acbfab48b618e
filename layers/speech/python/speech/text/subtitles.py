"""Subtitles: written tokens to captions of at most two lines, in SRT and WebVTT.

The rules are the usual ones of the trade: 42 characters a line, two lines, one to seven seconds, a comfortable
reading speed, two frames between captions, and breaks where the language breaks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from speech.events import Token
from speech.text.captions_layout import Rules, Unit, lay_out, split_units


@dataclass(frozen=True, slots=True)
class Caption:
    """One caption; `speaker` is shown before its text."""

    start_s: float  # seconds
    end_s: float  # seconds
    lines: tuple[str, ...]
    speaker: str = ""


def captions(tokens: Sequence[Token], speaker: str = "", rules: Rules | None = None) -> list[Caption]:
    """Captions of one speaker's tokens, in order, never overlapping. Linear in the number of tokens."""
    rules = rules or Rules()
    units = units_of(tokens)
    prefix = len(speaker) + 2 if speaker else 0
    found = [
        Caption(group[0].start_s, group[-1].end_s, lay_out(group, rules, prefix), speaker)
        for group in split_units(units, rules, prefix)
    ]
    return _timed(found, rules)


def merge(channels: Iterable[Sequence[Caption]], rules: Rules | None = None) -> list[Caption]:
    """Captions of several speakers as one list in time: where two speak at once, the earlier one yields."""
    rules = rules or Rules()
    result: list[Caption] = []
    for caption in sorted((c for channel in channels for c in channel), key=lambda c: (c.start_s, c.end_s)):
        crowded = result and result[-1].end_s + rules.gap_s > caption.start_s
        result.append(_make_room(result, caption, rules) if crowded else caption)
    return result


def _make_room(result: list[Caption], caption: Caption, rules: Rules) -> Caption:
    """Cut the last caption short, but not under its minimum; then start the new one later."""
    last = result[-1]
    cut = max(caption.start_s - rules.gap_s, min(last.end_s, last.start_s + rules.min_s))
    result[-1] = replace(last, end_s=cut)
    start = max(caption.start_s, cut + rules.gap_s)
    return replace(caption, start_s=start, end_s=max(caption.end_s, start + rules.min_s))


def units_of(tokens: Sequence[Token]) -> list[Unit]:
    """Words with the punctuation that follows them: what a line break must not split."""
    units: list[Unit] = []
    for token in tokens:
        if token.kind == "punctuation" and units:
            last = units[-1]
            units[-1] = Unit(last.text + token.text, last.start_s, last.end_s)
        elif token.kind == "word":
            units.append(Unit(token.text, token.start_s, max(token.end_s, token.start_s)))
    return units


def _timed(found: list[Caption], rules: Rules) -> list[Caption]:
    """Let each caption linger until it can be read, as far as the next one leaves room."""
    result: list[Caption] = []
    for i, caption in enumerate(found):
        characters = sum(map(len, caption.lines))
        wanted = max(caption.end_s, caption.start_s + max(rules.min_s, characters / rules.reading_cps))
        end = min(wanted, caption.start_s + rules.max_s)
        if i + 1 < len(found):
            room = found[i + 1].start_s - caption.start_s
            end = min(end, caption.start_s + max(room - rules.gap_s, room / 2))
        result.append(replace(caption, end_s=end))
    return result


def to_srt(found: Sequence[Caption]) -> str:
    """SubRip text; the speaker stands before the first line."""
    blocks = []
    for number, caption in enumerate(found, start=1):
        speaker = f"{caption.speaker}: " if caption.speaker else ""
        text = speaker + "\n".join(caption.lines)
        blocks.append(f"{number}\n{_clock(caption.start_s, ',')} --> {_clock(caption.end_s, ',')}\n{text}\n")
    return "\n".join(blocks)


def to_vtt(found: Sequence[Caption]) -> str:
    """WebVTT text (W3C WebVTT: `&`, `<`, `>` escaped); the speaker is a voice span."""
    blocks = ["WEBVTT\n"]
    for caption in found:
        voice = f"<v {_escaped(' '.join(caption.speaker.split()))}>" if caption.speaker else ""
        text = voice + "\n".join(map(_escaped, caption.lines))
        blocks.append(f"{_clock(caption.start_s, '.')} --> {_clock(caption.end_s, '.')}\n{text}\n")
    return "\n".join(blocks)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _clock(seconds: float, point: str) -> str:
    """ "01:02:03,004"."""
    ms = round(seconds * 1000)
    return f"{ms // 3_600_000:02d}:{ms // 60_000 % 60:02d}:{ms // 1000 % 60:02d}{point}{ms % 1000:03d}"
