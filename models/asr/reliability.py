"""What confidences are worth: fits them on some speech and measures them on other speech, through the product.

    python -m models.asr.reliability BUNDLE --fit cv=common_voice.tsv:-300 synth=single.tsv:8 \\
        --measure dev2=dev2.tsv --plot models/asr/reliability.svg --write

A set is NAME=MANIFEST, with `:N` for every Nth row or `:-N` for the last N rows. Manifests are those of `evaluate`.
Calibration (`speech.asr.hypothesis`) is a logistic regression of rightness on the evidence for each word; every set
that it is fitted on weighs the same. --write puts it into config.toml and the bundle's manifest. The expected
calibration error is the mean distance between confidence and rightness over ten bins, weighted by their words
(Guo et al., "On calibration of modern neural networks", 2017).
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from speech.asr.decoder import Decoder, DecoderState
from speech.asr.front import LEAD_SAMPLES
from speech.asr.hearing import Hearing
from speech.asr.hypothesis import Calibration, Evidence, Hypothesis
from speech.asr.recognizer import Recognizer
from speech.asr.segments import Segments
from speech.asr.settings import RecognitionSettings
from speech.model.bundle import Bundle, write_manifest
from speech.text.formatter import Formatter

from models.asr.evaluate import load
from models.asr.spoken import spoken
from models.asr.tune import align

CONFIG = Path(__file__).with_name("config.toml")
BINS = 10
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Words:
    """Of one set, words as they were recognised; parallel arrays."""

    evidence: FloatArray  # (n, 4): one, mean log probability, margin, logarithm of the frames
    right: FloatArray  # 1 or 0
    kept: npt.NDArray[np.bool_]  # whether the product tells the word: its segment is not taken for noise

    def confidence(self, calibration: Calibration) -> FloatArray:
        """(n,) under other weights than those that the bundle has."""
        return 1 / (1 + np.exp(-self.evidence @ np.array(list(asdict(calibration).values()))))


class Listening(Decoder):
    """A decoder that remembers what it found."""

    heard: list[Hypothesis]

    def finish(self, state: DecoderState) -> Hypothesis:
        """As ever."""
        found = super().finish(state)
        self.heard.append(found)
        return found


def hear(folder: Path, rows: list[list[str]], base: Path) -> Words:
    """Recognise the rows of a manifest as a live service would and compare word by word."""
    bundle = Bundle.load(folder, task="recognition", verify=False)
    recognizer = Recognizer(bundle, Formatter.plain())
    settings = RecognitionSettings.of(bundle.manifest)
    decoder = Listening(recognizer.hearings.plain.decoder.graph, settings.decoder)
    recognizer.hearings.plain = Hearing(decoder)
    everything = replace(settings, min_confidence=0.0, min_speech=None)
    recognizer.segments = Segments(everything, Formatter.plain(), LEAD_SAMPLES / recognizer.logmel.rate)
    evidence, right, kept = list[list[float]](), list[float](), list[bool]()
    for path, _, _, text, *_ in rows:
        decoder.heard = []
        samples, rate = load(base / path)
        stream = recognizer.stream(rate)
        for chunk in np.array_split(samples, max(1, len(samples) // int(0.16 * rate))):
            stream.receive(chunk)
        stream.finish()
        words = [(word, found) for found in decoder.heard for word in found.words]
        marks = [mark for mark in align(spoken(text), [word.text for word, _ in words]) if mark != "D"]
        right += [float(mark == "=") for mark in marks]
        evidence += [_row(word.evidence) for word, _ in words]
        kept += [_mean(found) >= settings.min_confidence for _, found in words]
    return Words(np.array(evidence).reshape(-1, 4), np.array(right), np.array(kept, bool))


def _row(evidence: Evidence) -> list[float]:
    return [1.0, evidence.sound, evidence.margin, float(np.log(evidence.frames))]


def _mean(found: Hypothesis) -> float:
    return float(np.mean([word.confidence for word in found.words]))


def fit(sets: list[Words], rounds: int = 30) -> Calibration:
    """Logistic regression by Newton's method, slightly regularised."""
    x, y = np.concatenate([s.evidence for s in sets]), np.concatenate([s.right for s in sets])
    each = np.concatenate([np.full(len(s.right), len(y) / len(sets) / len(s.right)) for s in sets])
    weights = np.zeros(4)
    for _ in range(rounds):
        p = 1 / (1 + np.exp(-x @ weights))
        curvature = x.T @ (x * (each * p * (1 - p))[:, None]) + 0.1 * np.eye(4)
        weights += np.linalg.solve(curvature, x.T @ (each * (y - p)) - 0.1 * weights)
    return Calibration(*(round(float(w), 3) for w in weights))


@dataclass(frozen=True)
class Bin:
    """Words of similar confidence."""

    confidence: float  # mean
    right: float  # share
    words: int


def bins(confidence: FloatArray, right: FloatArray) -> list[Bin]:
    """Ten bins of equal width, without those that are empty."""
    which = np.minimum((confidence * BINS).astype(int), BINS - 1)
    members = [which == b for b in range(BINS)]
    return [Bin(float(confidence[m].mean()), float(right[m].mean()), int(m.sum())) for m in members if m.any()]


def expected_error(found: list[Bin]) -> float:
    """The expected calibration error, 0 to 1."""
    return sum(b.words * abs(b.confidence - b.right) for b in found) / sum(b.words for b in found)


def plot(curves: dict[str, list[Bin]]) -> str:
    """An SVG: share of right words over confidence, one line a set, dots as large as their words are many."""
    colours = ("#1f6feb", "#d1570a", "#2d8a3e", "#8250df")
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 460 460" font-family="sans-serif" font-size="12">',
        '<rect width="460" height="460" fill="white"/><rect x="50" y="10" width="400" height="400" fill="none" '
        'stroke="#888"/><path d="M50 410 450 10" stroke="#aaa" stroke-dasharray="4"/>',
        '<text x="250" y="450" text-anchor="middle">confidence</text>',
        '<text x="14" y="210" text-anchor="middle" transform="rotate(-90 14 210)">share of words that are right</text>',
    ]
    for tick in range(0, 101, 20):
        at = f'x="{50 + 4 * tick}" y="426" text-anchor="middle"', f'x="44" y="{414 - 4 * tick}" text-anchor="end"'
        lines += [f"<text {place}>{tick / 100:g}</text>" for place in at]
    for nth, (name, found) in enumerate(curves.items()):
        colour, most = colours[nth % len(colours)], max(b.words for b in found)
        points = [(50 + 400 * b.confidence, 410 - 400 * b.right, 3 + 9 * (b.words / most) ** 0.5) for b in found]
        lines.append(
            f'<polyline fill="none" stroke="{colour}" points="'
            + " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in points)
            + '"/>'
        )
        lines += [
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}" fill="{colour}" opacity="0.6"/>' for x, y, r in points
        ]
        label = f"{name}: {sum(b.words for b in found)} words, error {expected_error(found):.3f}"
        lines.append(f'<text x="62" y="{30 + 18 * nth}" fill="{colour}">{label}</text>')
    return "\n".join([*lines, "</svg>\n"])


def write(folder: Path, calibration: Calibration, command: str) -> None:
    """Into config.toml, for the next bundle, and into this bundle's manifest."""
    text = CONFIG.read_text(encoding="utf-8")
    for name, value in asdict(calibration).items():
        text, count = re.subn(rf"^{name} = .*$", f"{name} = {value}", text, flags=re.MULTILINE)
        assert count == 1, f"{CONFIG} has {count} lines for {name!r}"
    CONFIG.write_text(text, encoding="utf-8")
    manifest = Bundle.load(folder).manifest
    settings = dict(manifest.settings)
    decoder = settings.get("decoder")
    settings["decoder"] = {**(decoder if isinstance(decoder, dict) else {}), "calibration": asdict(calibration)}
    write_manifest(folder, replace(manifest, settings=settings))
    print(f"written: {calibration}, fitted by {command}")


def sets(entries: list[str]) -> Iterator[tuple[str, list[list[str]], Path]]:
    """(name, rows, folder of the manifest) of each NAME=MANIFEST[:N]."""
    for entry in entries:
        name, _, place = entry.partition("=")
        manifest, _, part = place.partition(":")
        rows = [line.split("\t") for line in Path(manifest).read_text(encoding="utf-8").splitlines()]
        step = int(part or 1)
        yield name, rows[step:] if step < 0 else rows[::step], Path(manifest).parent


def main() -> None:
    """Fits, measures, draws and writes, as asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--fit", nargs="+", default=[], metavar="SET")
    parser.add_argument("--measure", nargs="+", default=[], metavar="SET")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    current = RecognitionSettings.of(Bundle.load(args.bundle, verify=False).manifest).decoder.calibration
    fitted = [hear(args.bundle, rows, base) for _, rows, base in sets(args.fit)]
    calibration = fit(fitted) if fitted else current
    curves: dict[str, list[Bin]] = {}
    for name, rows, base in sets(args.measure):
        words = hear(args.bundle, rows, base)
        curves[name] = bins(words.confidence(calibration)[words.kept], words.right[words.kept])
        before = bins(words.confidence(current)[words.kept], words.right[words.kept])
        numbers = {"error": round(expected_error(curves[name]), 4), "before": round(expected_error(before), 4)}
        print(json.dumps({"set": name, **numbers, "bins": [asdict(b) for b in curves[name]]}), flush=True)
    print(f"{calibration}, fitted on {[len(s.right) for s in fitted]} words")
    if args.plot and curves:
        args.plot.write_text(plot(curves), encoding="utf-8")
    if args.write:
        write(args.bundle, calibration, " ".join(args.fit))


if __name__ == "__main__":
    main()
