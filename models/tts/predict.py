"""Speaks a store's sentences with the acoustic model, so that the vocoder can learn what it will be given.

    python -m models.tts.predict STORE/single_voice RUN/model.pt

Durations, pitch and energy are the teacher's: the frames written to `predicted.npy` (float16, as mel.npy) lie in step
with the recordings. They are smoother than the recordings' own; a vocoder that has heard them puts the detail back.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from models.tts import acoustic
from models.tts.acoustic import Acoustic, AcousticConfig
from models.tts.acoustic_batches import Sentence, collate, sentence
from models.tts.corpus import Store
from models.tts.training import load

SIZE = 8  # sentences at a time


@torch.inference_mode()
def predicted(model: Acoustic, sentences: list[Sentence]) -> list[NDArray[np.float32]]:
    batch = collate(sentences)
    vectors, _ = model.encoder(batch.tokens, batch.clause_voice @ model.voices, batch.reverse)
    units = vectors.flatten(0, 1)[batch.units]
    mel, _, _ = model.decoder(units, batch.place, batch.voice @ model.voices, batch.prosody)
    mel = mel * acoustic.MEL_SCALE + acoustic.MEL_MEAN
    return [m[: len(s.mel)].numpy() for m, s in zip(mel, sentences, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path, help="one corpus")
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    model: Acoustic = load(args.checkpoint, lambda c: Acoustic(AcousticConfig(**c)))  # type: ignore[assignment]
    store, rng = Store(args.store), np.random.default_rng(1)
    out = np.lib.format.open_memmap(args.store / "predicted.tmp.npy", "w+", np.float16, store.mel.shape)
    order = np.argsort(np.diff(store.frame_at), kind="stable")
    for at in range(0, len(order), SIZE):
        chosen = order[at : at + SIZE]
        for i, mel in zip(chosen, predicted(model, [sentence(store, int(i), rng) for i in chosen]), strict=True):
            out[store.of_frames(int(i))] = store.mel[store.of_frames(int(i))]  # the silence that `sentence` leaves out
            out[store.frame_at[i + 1] - len(mel) : store.frame_at[i + 1]] = mel
    out.flush()
    (args.store / "predicted.tmp.npy").replace(args.store / "predicted.npy")
    error = np.abs(out[::7].astype(np.float32) - store.mel[::7].astype(np.float32)).mean()
    print(f"{args.store}/predicted.npy: {len(store)} sentences, mean distance from the recordings {error:.3f}")


if __name__ == "__main__":
    main()
