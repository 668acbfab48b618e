"""Trains the acoustic model: `python -m models.tts.acoustic_train STORE RUN --sources single_voice=2 many_voices=1`.

The schedule follows the processor's time: see `models.tts.vocoder_train`. The same command goes on where it stopped.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from models.tts.acoustic import FRAMES, Acoustic, AcousticConfig
from models.tts.acoustic_batches import Batch, batches
from models.tts.training import Training, add_training_arguments


def losses(model: Acoustic, batch: Batch, bf16: bool) -> dict[str, Tensor]:
    with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
        vectors, durations = model.encoder(batch.tokens, batch.clause_voice @ model.voices, batch.reverse)
        units = vectors.flatten(0, 1)[batch.units]
        mel, prosody, _ = model.decoder(units, batch.place, batch.voice @ model.voices, batch.prosody)
    heard = batch.heard
    frames = heard.repeat_interleave(FRAMES, dim=1)
    pitch, voiced, energy = prosody[heard].unbind(-1)
    true_pitch, true_voiced, true_energy = batch.prosody[heard].unbind(-1)
    parts = {
        "mel": (mel[frames] - batch.mel[frames]).abs().mean(),
        "duration": (durations - batch.durations)[batch.known].abs().mean(),
        "pitch": ((pitch - true_pitch).abs() * true_voiced).mean(),
        "voiced": F.binary_cross_entropy_with_logits(voiced, true_voiced),
        "energy": (energy - true_energy).abs().mean(),
    }
    loss = 2 * parts["mel"] + parts["duration"] + parts["pitch"] + 0.5 * parts["voiced"] + 0.5 * parts["energy"]
    return {"loss": loss, **parts}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_training_arguments(parser)
    parser.add_argument("--batch-units", type=int, default=2400, help="padded units of 25 ms in a batch")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    run = Training(args, lambda c: Acoustic(AcousticConfig(**c)), AcousticConfig().as_dict())
    feed = batches(args.store, args.sources, args.batch_units, np.random.default_rng([args.seed, run.steps]))
    began = time.process_time()
    run.model.train()
    for _ in run.until_done(began):
        run.step(losses(run.model, next(feed), args.bf16))


if __name__ == "__main__":
    main()
