"""Trains the speech detector, which tells speech from all else, frame by frame and apart from the acoustic model.

    python -m models.asr.detector STORE RUN --sources mini=1 cv=1 --clips ESC-10 CRIES MUSIC BURSTS --minutes 25

The network is the acoustic model's, tiny, with two outputs: no speech and speech. A row of a batch is eight seconds of
pieces of speech, of other sounds and of pauses, in a common room and band. Speech lasts HOLD frames beyond its last
phone, so that the verdict on a word may wait until it is over. Every tenth clip of a folder is held out (`noises.py`).
RUN/speech.pt holds the averaged weights in half precision, for `models.asr.export --speech`.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from models.asr.augment import (
    BIN_HZ,
    FLOOR,
    LOG_MEL,
    Augmenter,
    FloatArray,
    change_tempo,
    frequency_response,
    warp_bins,
)
from models.asr.batches import IGNORE, STRIDE, Store
from models.asr.corpus import load
from models.asr.model import AcousticModel, ModelConfig
from models.asr.noises import clips, made
from models.asr.score import load_model
from models.asr.train import passed_state, schedule

CONFIG = ModelConfig(tokens=2, frontend=32, d=48, layers=2, heads=3, head_dim=24, state=8, ffn=96, delay=5, dropout=0.0)
LABELS = 200  # label frames of a row: 8 s
HOLD = 8  # label frames that speech lasts after its last phone, unless more follows
Labels = NDArray[np.int64]
Piece = tuple[FloatArray, Labels]  # (frames, mels) ln power and (frames / 4,)


def speech_labels(phones: NDArray[np.uint8]) -> Labels:
    """1 for speech, its hold and the short pauses within, 0 else; IGNORE on the frame before it begins."""
    heard = phones != 0
    spread = np.convolve(heard, np.ones(HOLD + 1))[: len(heard)] > 0
    labels = spread.astype(np.int64)
    labels[np.flatnonzero(np.diff(labels) == 1)] = IGNORE
    return labels


def power_of(features: NDArray[np.float16]) -> FloatArray:
    return features.astype(np.float32) * np.float32(LOG_MEL.scale) + np.float32(LOG_MEL.offset)


def whispered(power: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Breath in the place of the voice: no harmonics, little below 600 Hz, the grain of noise."""
    kernel = np.ones(7, np.float32) / 7
    smooth = np.apply_along_axis(np.convolve, 1, np.pad(power, ((0, 0), (3, 3)), "edge"), kernel, "valid")
    tilt = np.interp(np.arange(power.shape[1]), [0, 18, 30], [-rng.uniform(2, 4), -rng.uniform(0, 2), 0])
    grain = np.log(rng.gamma(3.0, 1.0 / 3.0, power.shape) + 1e-3)
    return (smooth + tilt + grain).astype(np.float32)


def narrow(features: FloatArray, rng: np.random.Generator) -> FloatArray:
    """A telephone's band, with edges from soft to sharp, and what its codec leaves of quantisation noise.

    `augment.telephone` has soft edges and more noise; to a detector a line with sharp ones then is no speech.
    """
    power = features * np.float32(LOG_MEL.scale) + np.float32(LOG_MEL.offset)
    low, high, sharp = rng.uniform(60, 420), rng.uniform(3200, 3900), np.exp(rng.uniform(np.log(2), np.log(40)))
    outside = np.maximum(np.maximum(low - BIN_HZ, BIN_HZ - high), 0.0)
    inside = power - np.minimum(outside / sharp, 30).astype(np.float32)
    inside = np.logaddexp(inside, power.max(axis=1, keepdims=True) - np.float32(rng.uniform(8, 15)))
    inside = np.maximum(np.where(rng.uniform(3900, 4300) > BIN_HZ, inside, FLOOR), FLOOR)
    return ((inside - np.float32(LOG_MEL.offset)) / np.float32(LOG_MEL.scale)).astype(np.float32)


def faded(power: FloatArray) -> FloatArray:
    """Without the click that a cut leaves: 40 ms of rise and of fall."""
    ramp = np.float32([-6.0, -4.0, -2.0, -1.0])[: len(power) // 2, None]
    power = power.copy()
    power[: len(ramp)] += ramp
    power[len(power) - len(ramp) :] += ramp[::-1]
    return power


class Material:
    """Speech and other sounds, and the pieces that rows are made of.

    Sounds are heard the more often the more speech the network finds in them: `dwell`.
    """

    def __init__(self, stores: list[tuple[Store, float]], folders: list[Path], made_count: int) -> None:
        rng = np.random.default_rng(7)
        self.stores = [store for store, _ in stores]
        weights = np.array([len(store.usable) * weight for store, weight in stores])
        self.share = weights / weights.sum()
        kinds: dict[str, list[NDArray[np.float16]]] = defaultdict(list)
        for folder in folders:
            for path in clips(folder):
                kinds[str(path.parent)].append(LOG_MEL.batch(load(path)).astype(np.float16))
        kinds["made"] = [LOG_MEL.batch(made(rng.uniform(3, 9), rng)).astype(np.float16) for _ in range(made_count)]
        self.sounds = [sound for sounds in kinds.values() for sound in sounds]
        size = [len(sounds) ** -0.6 for sounds in kinds.values() for _ in sounds]  # no kind drowns the others
        self.size, self.doubt = np.array(size), np.full(len(size), 0.2)
        self.all = np.concatenate([power_of(sound) for sound in self.sounds])
        print({name: len(sounds) for name, sounds in kinds.items()}, flush=True)

    def speech(self, rng: np.random.Generator) -> Piece:
        """A piece of an utterance, four of ten as short as a word or two, or a short one as a whole."""
        store = self.stores[rng.choice(len(self.stores), p=self.share)]
        i = int(rng.choice(store.usable))
        phones = store.labels[store.offsets[i] : store.offsets[i + 1]]
        seconds = rng.uniform(0.25, 1.4) if rng.random() < 0.4 else rng.uniform(1.5, 6.0)
        length = min(len(phones), int(seconds * 25))
        if len(phones) < 60 and rng.random() < 0.5:
            length = len(phones)
        onsets = np.flatnonzero(np.diff((phones != 0).astype(np.int8)) == 1)
        if len(onsets) and rng.random() < 0.6:  # begin with a word after a pause
            start = max(0, int(rng.choice(onsets)) - int(rng.integers(0, 4)))
        else:
            start = int(rng.integers(0, len(phones) - length + 1))
        phones = phones[start : start + length]
        at = store.index[i]["offset"] + start * STRIDE
        power = power_of(store.features[at : at + len(phones) * STRIDE])
        power, phones = change_tempo(power, phones, rng.uniform(0.85, 1.2))
        power = warp_bins(power, rng.uniform(0.85, 1.18))
        if rng.random() < 0.08:
            power = whispered(power, rng)
        return faded(power), phones.astype(np.int64)

    def sound(self, rng: np.random.Generator) -> Piece:
        """A piece of something else, bent further than speech may be."""
        share = self.size * self.doubt
        f = self.sounds[rng.choice(len(self.sounds), p=share / share.sum())]
        length = min(len(f), int(rng.uniform(0.3, 6.0) * 100))
        start = rng.integers(0, len(f) - length + 1)
        power = power_of(f[start : start + length])
        power, _ = change_tempo(power, np.zeros(0, np.uint8), np.exp(rng.uniform(-0.4, 0.4)))
        power = warp_bins(power, np.exp(rng.uniform(-0.25, 0.25)))
        if rng.random() < 0.5:
            power = power + frequency_response(rng)
        if rng.random() < 0.1:
            power = power[::-1]
        return faded(power), np.zeros(len(power) // STRIDE, np.int64)

    def row(self, augment: Augmenter, rng: np.random.Generator) -> tuple[FloatArray, Labels]:
        """Features (LABELS * 4, mels) and labels (LABELS,)."""
        kinds, apart, parts, length = rng.dirichlet((1.5, 1.3, 0.4)), rng.random() < 0.4, list[Piece](), 0
        while length < LABELS:
            which = rng.choice(3, p=kinds)
            if which == 2 or (apart and len(parts) % 2 == 0):  # a pause, after every piece in some rows
                count = int(rng.uniform(0.2, 1.5) * 25)
                which = 2
                power, labels = np.full((count * STRIDE, LOG_MEL.bins), FLOOR), np.zeros(count, np.int64)
            else:
                power, labels = (self.speech, self.sound)[which](rng)
                power = power[: len(labels) * STRIDE] + np.float32(rng.normal(0, 1.0))
            parts.append((power, labels))
            length += len(labels)
        power, phones = np.concatenate([p for p, _ in parts]), np.concatenate([p for _, p in parts])
        hiss = rng.uniform(-6, 1) * np.linspace(0, 1, LOG_MEL.bins) + FLOOR + rng.uniform(-2, 4)
        power = np.logaddexp(power, hiss.astype(np.float32))[: LABELS * STRIDE]
        power += np.float32(rng.uniform(-4.0, 1.0))
        features = ((power - np.float32(LOG_MEL.offset)) / np.float32(LOG_MEL.scale)).astype(np.float16)
        features, _ = augment(features, np.zeros(LABELS, np.uint8), rng)
        if rng.random() < 0.45:
            features = narrow(features, rng)
        return features, speech_labels(phones[:LABELS].astype(np.uint8))

    @torch.inference_mode()
    def dwell(self, model: AcousticModel, count: int, rng: np.random.Generator) -> None:
        """Listen to some of the sounds and remember how much speech is found in each."""
        for i in rng.choice(len(self.sounds), min(count, len(self.sounds)), replace=False):
            f = self.sounds[i][: len(self.sounds[i]) // STRIDE * STRIDE].astype(np.float32)
            found = model(torch.from_numpy(f)[None])[0][0, :, 1].exp()
            self.doubt[i] = 0.5 * self.doubt[i] + 0.5 * (0.05 + float(found.sort().values[-25:].mean()))

    def batches(self, augment: Augmenter, size: int, rng: np.random.Generator) -> Iterator[tuple[Tensor, Tensor]]:
        """Features (size, LABELS * 4, mels) and labels (size, LABELS), for ever."""
        augment = replace(augment, noises=self.all)
        while True:
            rows = [self.row(augment, rng) for _ in range(size)]
            yield torch.from_numpy(np.stack([f for f, _ in rows])), torch.from_numpy(np.stack([t for _, t in rows]))


def losses(log_probs: Tensor, labels: Tensor) -> tuple[Tensor, float, float]:
    """Cross-entropy, and the shares of frames of speech missed and of speech invented."""
    delay = CONFIG.delay
    flat, wanted = log_probs[:, delay:].flatten(0, 1), labels[:, :-delay].flatten()
    guess = flat.argmax(-1)
    missed, invented = (float((guess[wanted == k] != k).float().mean()) for k in (1, 0))
    return F.nll_loss(flat, wanted, ignore_index=IGNORE), missed, invented


def save(path: Path, model: AcousticModel, average: dict[str, Tensor]) -> None:
    temporary = path.with_suffix(".tmp")
    half = {k: v.half() for k, v in average.items()}
    torch.save({"config": model.c.as_dict(), "average": half, "model": half}, temporary)
    os.replace(temporary, path)


def train(args: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    named = [s.split("=") for s in args.sources]
    material = Material([(Store(args.store, n), float(w)) for n, w in named], args.clips, args.made)
    augment = Augmenter(None, 0.0, 0.0, 0.6, 0.5, (0.0, 30.0), 0.2, 0.05, 0.2, (6, 4))
    model = AcousticModel(CONFIG) if args.start is None else load_model(args.start).train()
    average = {k: v.clone() for k, v in model.state_dict().items()}
    optimiser = torch.optim.AdamW(model.parameters(), lr=args.lr, betas=(0.9, 0.98), weight_decay=0.01)
    began, state, recent = time.monotonic(), None, list[tuple[float, float, float]]()
    for step, (features, labels) in enumerate(material.batches(augment, args.batch, rng), 1):
        elapsed = time.monotonic() - began
        progress = elapsed / (60 * args.minutes)
        for group in optimiser.param_groups:
            group["lr"] = args.lr * schedule(progress)
        log_probs, after = model(features, passed_state(state, len(features), rng))
        state = [s.detach() for s in after]
        loss, *wrong = losses(log_probs, labels)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad()
        for k, v in model.state_dict().items():
            average[k].lerp_(v, max(0.005, 1 / (step + 1)))
        recent.append((loss.item(), *wrong))
        if step % 25 == 0:
            material.dwell(model, 60, rng)
        if step % 50 == 0 or progress >= 1:
            mean, missed, invented = np.nanmean(recent[-50:], axis=0)
            heard = f"{elapsed / 60:5.1f} min  step {step}  heard {step * args.batch * LABELS * 0.04 / 3600:.1f} h"
            print(f"{heard}  loss {mean:.4f}  missed {missed:.2%}  invented {invented:.2%}", flush=True)
            save(args.run / "speech.pt", model, average)
        if progress >= 1:
            return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("run", type=Path)
    parser.add_argument("--sources", nargs="+", required=True, metavar="NAME=WEIGHT")
    parser.add_argument("--clips", type=Path, nargs="+", required=True, help="folders of sounds without speech")
    parser.add_argument("--from", dest="start", type=Path, help="checkpoint whose averaged weights to begin with")
    parser.add_argument("--made", type=int, default=400, help="artificial sounds of `noises.py` to add")
    parser.add_argument("--minutes", type=float, default=25)
    parser.add_argument("--batch", type=int, default=24, help="rows of 8 s")
    parser.add_argument("--lr", type=float, default=4e-3)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    args.run.mkdir(parents=True, exist_ok=True)
    train(args)


if __name__ == "__main__":
    main()
