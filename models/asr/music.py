"""Music without words, for training and judging: `python -m models.asr.music FOLDER --pieces 120 [--seed 1]`.

Pieces of 12 s made up by chance, a melody, chords and drums on General MIDI's instruments, choirs and "voice oohs"
among them, since what sings is taken for speech most easily. Rendered by FluidSynth with a sound font of recorded
instruments (Debian: `fluidsynth fluid-soundfont-gm`, MIT), which the training machine needs and nothing else does.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
from pathlib import Path

import mido
import numpy as np

RATE = 16000
SECONDS = 12.0
TICKS = 480  # a beat
SCALES = ((0, 2, 4, 5, 7, 9, 11), (0, 2, 3, 5, 7, 8, 10), (0, 3, 5, 7, 10))
SINGING = (52, 53, 54, 85, 91)  # choir aahs, voice oohs, synth voice, lead voice, choir pad
FONT = Path("/usr/share/sounds/sf2/FluidR3_GM.sf2")


def part(
    program: int, channel: int, rng: np.random.Generator, beats: int, scale: list[int], chords: bool
) -> mido.MidiTrack:
    """One instrument: a walk over the scale, or chords on its steps."""
    track = mido.MidiTrack([mido.Message("program_change", program=program, channel=channel)])
    place, beat, rest = int(rng.integers(len(scale))), 0.0, 0
    while beat < beats:
        length = float(rng.choice([1, 2, 4] if chords else [0.25, 0.5, 0.5, 1, 2]))
        place = int(np.clip(place + rng.integers(-3, 4), 0, len(scale) - 1))
        notes = [scale[min(place + step, len(scale) - 1)] for step in ((0, 2, 4) if chords else (0,))]
        if rng.random() < 0.15:
            rest += int(length * TICKS)
        else:
            loud = int(rng.integers(50, 120))
            for number, note in enumerate(notes):
                track.append(
                    mido.Message("note_on", note=note, velocity=loud, channel=channel, time=0 if number else rest)
                )
            for number, note in enumerate(notes):
                wait = 0 if number else int(length * TICKS * 0.95)
                track.append(mido.Message("note_off", note=note, channel=channel, time=wait))
            rest = int(length * TICKS) - int(length * TICKS * 0.95)
        beat += length
    return track


def drums(rng: np.random.Generator, beats: int) -> mido.MidiTrack:
    """A bar's pattern over and over on channel 10."""
    track, rest = mido.MidiTrack(), 0
    pattern = [
        [note for note, odds in ((36, 0.3), (38, 0.2), (42, 0.5), (46, 0.1)) if rng.random() < odds] for _ in range(16)
    ]
    for step in range(beats * 4):
        for note in pattern[step % 16]:
            track.append(mido.Message("note_on", note=note, velocity=int(rng.integers(50, 110)), channel=9, time=rest))
            rest = 0
        rest += TICKS // 4
    return track


def piece(rng: np.random.Generator) -> mido.MidiFile:
    """A piece of at least SECONDS."""
    file = mido.MidiFile(ticks_per_beat=TICKS)
    bpm = int(rng.integers(60, 170))
    beats = int(SECONDS * bpm / 60) + 1
    file.tracks.append(mido.MidiTrack([mido.MetaMessage("set_tempo", tempo=mido.bpm2tempo(bpm))]))
    steps, key = SCALES[rng.integers(len(SCALES))], int(rng.integers(12))
    for channel in range(int(rng.integers(1, 5))):
        low = int(rng.choice([36, 48, 48, 60]))
        scale = [low + key + 12 * octave + step for octave in range(2) for step in steps]
        program = int(rng.choice(SINGING)) if rng.random() < 0.3 else int(rng.integers(112))
        file.tracks.append(part(program, channel, rng, beats, scale, chords=channel % 2 == 1))
    if rng.random() < 0.4:
        file.tracks.append(drums(rng, beats))
    return file


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pieces", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--font", type=Path, default=FONT)
    args = parser.parse_args()
    if shutil.which("fluidsynth") is None or not args.font.is_file():
        parser.error(f"expected fluidsynth and {args.font}: apt install fluidsynth fluid-soundfont-gm")
    args.folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(args.seed)
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(args.pieces):
            midi, wav = Path(scratch) / "piece.mid", args.folder / f"music-{args.seed}-{number:03d}.wav"
            piece(rng).save(midi)
            command = ["fluidsynth", "-niq", "-g", "0.6", "-r", str(RATE), "-F", str(wav), str(args.font), str(midi)]
            subprocess.run(command, check=True, capture_output=True)
            print(f"\r{number + 1}/{args.pieces}", end="", flush=True)
    print()


if __name__ == "__main__":
    main()
