"""Scores utterances with a trained checkpoint: log-probabilities with the output delay already taken out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from speech.features.logmel import LogMel

from models.asr.model import AcousticModel, ModelConfig

STRIDE = 4


def load_model(path: Path, averaged: bool = True) -> AcousticModel:
    """The model of a checkpoint, in evaluation mode; `averaged` takes the running average of its weights."""
    checkpoint = torch.load(path, map_location="cpu", weights_only=True)
    model = AcousticModel(ModelConfig(**checkpoint["config"]))
    model.load_state_dict(checkpoint["average" if averaged else "model"])
    return model.eval()


def utterances(store: Path, name: str, every: int = 1) -> Iterator[tuple[dict[str, Any], NDArray[np.float16]]]:
    """Index entry and features (T, mels) of every so many utterances of a store that `corpus.py` wrote."""
    features = np.memmap(store / f"{name}.f16", np.float16, "r").reshape(-1, LogMel().bins)
    for line in (store / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()[::every]:
        entry = json.loads(line)
        yield entry, features[entry["offset"] : entry["offset"] + entry["frames"]]


class Scorer:
    def __init__(self, checkpoint: Path, averaged: bool = True) -> None:
        torch.set_num_threads(1)
        self.model = load_model(checkpoint, averaged)
        self.delay = self.model.c.delay
        self.silence = LogMel().silence

    @torch.inference_mode()
    def __call__(self, features: NDArray[np.float16]) -> NDArray[np.float32]:
        """features (T, mels) -> log-probabilities (T // 4, tokens)."""
        length = len(features) // STRIDE
        padded = np.full(((length + self.delay) * STRIDE, features.shape[1]), self.silence, np.float32)
        padded[: length * STRIDE] = features[: length * STRIDE]
        log_probs, _ = self.model(torch.from_numpy(padded)[None])
        return log_probs[0, self.delay :].numpy()
