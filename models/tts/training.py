"""The loop that vocoder and acoustic model share: clocked schedule, running average, checkpoints that resume."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

REPORT_STEPS = 50
SAVE_SECONDS = 90.0


def add_training_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("store", type=Path)
    parser.add_argument("run", type=Path)
    parser.add_argument("--sources", nargs="+", required=True, metavar="NAME=WEIGHT")
    parser.add_argument("--from", dest="start", type=Path, help="checkpoint whose averaged weights to begin with")
    parser.add_argument("--minutes", type=float, default=120, help="processor time of the whole schedule")
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--bf16", action="store_true", help="products in bfloat16: half the time where the CPU has it")
    parser.add_argument("--seed", type=int, default=1)


def schedule(progress: float, warm: float = 0.01, hold: float = 0.4) -> float:
    """Learning-rate factor at `progress` 0 to 1 of the run."""
    if progress < warm:
        return progress / warm + 1e-3
    return 1.0 if progress < hold else max(0.0, (1.0 - progress) / (1.0 - hold))


class Training:
    """Model, optimiser and their checkpoint."""

    def __init__(
        self, args: argparse.Namespace, make: Callable[[dict[str, Any]], nn.Module], config: dict[str, Any]
    ) -> None:
        self.args, self.path = args, args.run / "model.pt"
        args.run.mkdir(parents=True, exist_ok=True)
        saved = torch.load(self.path, weights_only=True) if self.path.exists() else None
        start = torch.load(args.start, weights_only=True) if args.start and not saved else None
        known = saved or start
        self.config = known["config"] if known else config
        self.model = make(self.config)
        if start:
            self.model.load_state_dict(start["average"])
        self.optimiser = torch.optim.AdamW(
            self.model.parameters(), args.lr, betas=(0.9, 0.98), weight_decay=0.01, foreach=True
        )
        self.steps, self.elapsed = 0, 0.0
        self.average = {k: v.clone() for k, v in self.model.state_dict().items()}
        if saved:
            self.model.load_state_dict(saved["model"])
            self.optimiser.load_state_dict(saved["optimiser"])
            self.average, self.steps, self.elapsed = saved["average"], saved["steps"], saved["elapsed"]
        self.recent: list[dict[str, float]] = []
        self.saved_at = time.monotonic()

    def until_done(self, began: float) -> Iterator[None]:
        """Yields before each step. `began`: `time.process_time()` at the start."""
        before = self.elapsed
        while self.elapsed < 60 * self.args.minutes:
            yield
            self.elapsed = before + time.process_time() - began
            if time.monotonic() - self.saved_at > SAVE_SECONDS:
                self.save()
        self.save()

    def step(self, losses: dict[str, Tensor]) -> None:
        """One update by `losses["loss"]`; the others are only reported."""
        rate = self.args.lr * schedule(self.elapsed / (60 * self.args.minutes))
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.zero_grad(set_to_none=True)
        losses["loss"].backward()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        if torch.isfinite(norm):
            self.optimiser.step()
        self.steps += 1
        keep = min(0.999, 1 - 1 / (self.steps + 1) if self.steps < 10 else 1 - 10 / (self.steps + 10))
        with torch.no_grad():
            for k, v in self.model.state_dict().items():
                self.average[k].lerp_(v, 1 - keep)
        self.recent.append({k: v.item() for k, v in losses.items()} | {"norm": norm.item()})
        if self.steps % REPORT_STEPS == 0:
            means = {k: np.mean([r[k] for r in self.recent]) for k in self.recent[-1]}
            line = "  ".join(f"{k} {v:.4f}" for k, v in means.items())
            print(f"{self.elapsed / 60:6.1f} min  step {self.steps}  {line}", flush=True)
            self.recent = []

    def save(self) -> None:
        temporary = self.path.with_suffix(".tmp")
        torch.save(
            {"config": self.config, "model": self.model.state_dict(), "average": self.average,
             "optimiser": self.optimiser.state_dict(), "steps": self.steps, "elapsed": self.elapsed},
            temporary,
        )  # fmt: skip
        os.replace(temporary, self.path)
        self.saved_at = time.monotonic()


def load(path: Path, make: Callable[[dict[str, Any]], nn.Module], averaged: bool = True) -> nn.Module:
    """The model of a checkpoint, ready to be used."""
    saved = torch.load(path, weights_only=True)
    model = make(saved["config"])
    model.load_state_dict(saved["average" if averaged else "model"])
    return model.eval()
