"""Trains the vocoder: `python -m models.tts.vocoder_train STORE RUN --sources single_voice=0.8 many_voices=0.2`.

The schedule follows the processor's time, not a count of steps: the learning rate rises, holds and falls to zero within
--minutes of it, whatever else the machine does. RUN/model.pt is written every few minutes; the same command goes on.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from speech.tts.excitation import HOP, RATE, ExcitationState, excite
from torch import Tensor

from models.tts.corpus import Store
from models.tts.training import Training, add_training_arguments
from models.tts.vocoder import LAG, Vocoder, VocoderConfig
from models.tts.vocoder_loss import phase_loss, spectral_loss

WARM = 6  # frames at the head of a crop that are not judged: the network has not heard enough there


class Crops:
    """Random stretches of sentences with the excitation at the phase it has there."""

    def __init__(
        self, folder: Path, sources: list[str], frames: int, predicted: float, rng: np.random.Generator
    ) -> None:
        self.frames, self.predicted, self.rng = frames, predicted, rng
        self.stores = [Store(folder / s.split("=")[0]) for s in sources]
        self.weights = np.array([float(s.split("=")[1]) for s in sources])
        self.usable = [[i for i in s.training() if s.frame_at[i + 1] - s.frame_at[i] > frames] for s in self.stores]

    def one(self) -> tuple[NDArray[np.float32], ...]:
        """mel (T, 80), f0 (T,), harmonics and noise (T, 300), and the samples (T * 300,)."""
        which = self.rng.choice(len(self.stores), p=self.weights / self.weights.sum())
        store = self.stores[which]
        span = store.of_frames(self.usable[which][self.rng.integers(len(self.usable[which]))])
        first = int(self.rng.integers(span.start, span.stop - self.frames + 1))
        f0 = store.f0[first : first + self.frames]
        cycles = float(np.maximum(store.f0[span.start : first], 0).sum(dtype=np.float64) * HOP / RATE) % 1.0
        _, harmonics, noise = excite(ExcitationState(cycles, int(self.rng.integers(1 << 30))), f0)
        made = store.predicted is not None and self.rng.random() < self.predicted
        mel = (store.predicted if made else store.mel)[first : first + self.frames].astype(np.float32)
        samples = store.samples[first * HOP : (first + self.frames) * HOP].astype(np.float32) / 32768
        return mel, f0, harmonics, noise, samples

    def batch(self, size: int) -> tuple[Tensor, ...]:
        return tuple(
            torch.from_numpy(np.stack(parts)) for parts in zip(*(self.one() for _ in range(size)), strict=True)
        )


def losses(model: Vocoder, batch: tuple[Tensor, ...], bf16: bool) -> dict[str, Tensor]:
    mel, f0, harmonics, noise, samples = batch
    with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
        voiced, noisy, _ = model(mel, f0, harmonics, noise)
    lag, warm = LAG * HOP, WARM * HOP
    voiced, noisy, target = voiced[:, lag + warm :], noisy[:, lag + warm :], samples[:, warm:-lag]
    spectral, phase = spectral_loss(voiced + noisy, target), phase_loss(voiced, target)
    return {"loss": spectral + phase, "spectral": spectral, "phase": phase}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_training_arguments(parser)
    parser.add_argument("--batch", type=int, default=12)
    parser.add_argument("--frames", type=int, default=64, help="of a crop, 12.5 ms each")
    parser.add_argument("--predicted", type=float, default=0.0, help="share of crops from models.tts.predict")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    run = Training(args, lambda c: Vocoder(VocoderConfig(**c)), VocoderConfig().as_dict())
    rng = np.random.default_rng([args.seed, run.steps])
    crops = Crops(args.store, args.sources, args.frames, args.predicted, rng)
    began = time.process_time()
    run.model.train()
    for _ in run.until_done(began):
        run.step(losses(run.model, crops.batch(args.batch), args.bf16))


if __name__ == "__main__":
    main()
