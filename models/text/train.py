"""Train the tagger: `python -m models.text.train DATA OUT`; started again, it goes on from its last checkpoint."""

from __future__ import annotations

import argparse
import time
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import torch
from speech.text.vocabulary import Vocabulary
from torch.nn import functional

from models.text.labels import IGNORE
from models.text.model import Shape, Tagger
from models.text.windows import Batch, Windows

CONFIG = Path(__file__).with_name("config.toml")
REPORT_EVERY = 100
SAVE_EVERY = 100


def rate_at(step: int, config: dict[str, Any]) -> float:
    """Learning rate: linear warm-up, constant, linear down to a hundredth over the last `decay` steps.

    Constant in the middle, so that a run may be resumed with more or fewer steps.
    """
    up = min(1.0, (step + 1) / config["warmup"])
    down = min(1.0, max(0.01, (config["steps"] - step) / config["decay"]))
    return float(config["learning_rate"]) * min(up, down)


def loss_of(model: Tagger, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    """Cross-entropies of punctuation and of casing over the labelled words."""
    marks, casings = model(torch.from_numpy(batch.features), torch.from_numpy(batch.mask))
    pairs = ((marks, batch.marks), (casings, batch.casings))
    first, second = (
        functional.cross_entropy(scores.flatten(0, 1), torch.from_numpy(labels).flatten(), ignore_index=IGNORE)
        for scores, labels in pairs
    )
    return first, second


class Trainer:
    """Model, optimiser, averaged weights and position, saved together."""

    def __init__(self, data: Path, out: Path, steps: int | None) -> None:
        self.all = tomllib.loads(CONFIG.read_text())
        self.config = self.all["train"] | ({"steps": steps} if steps else {})
        self.out = out
        torch.manual_seed(self.config["seed"])
        vocabulary = Vocabulary.load(data / "vocabulary.txt", self.all["corpus"]["buckets"])
        self.windows = Windows(data, self.all, vocabulary)
        self.model = Tagger(Shape.of(self.all))
        decayed = [p for p in self.model.parameters() if p.ndim > 1]
        plain = [p for p in self.model.parameters() if p.ndim <= 1]
        groups = [
            {"params": decayed, "weight_decay": self.config["weight_decay"]},
            {"params": plain, "weight_decay": 0.0},
        ]
        self.optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.98), fused=True)
        self.average = {k: torch.zeros_like(v) for k, v in self.model.state_dict().items()}
        self.averaged = self.step = 0
        if (out / "last.pt").exists():
            self.resume()

    def resume(self) -> None:
        """Go on from the last checkpoint."""
        saved = torch.load(self.out / "last.pt", weights_only=True)
        self.model.load_state_dict(saved["model"])
        self.optimizer.load_state_dict(saved["optimizer"])
        self.average, self.averaged, self.step = saved["average"], saved["averaged"], saved["step"]

    def save(self) -> None:
        """Write the checkpoint under a temporary name first: a killed run leaves the old one whole."""
        state = {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "average": self.average,
            "averaged": self.averaged,
            "step": self.step,
        }
        torch.save(state, self.out / "last.tmp")
        (self.out / "last.tmp").replace(self.out / "last.pt")

    def one_step(self) -> tuple[float, float]:
        """One batch, drawn from a generator seeded by the step, so that a resumed run sees what it would have seen."""
        for group in self.optimizer.param_groups:
            group["lr"] = rate_at(self.step, self.config)
        batch = self.windows.batch(np.random.default_rng((self.config["seed"], self.step)))
        marks, casings = loss_of(self.model, batch)
        self.optimizer.zero_grad(set_to_none=True)
        (marks + casings).backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.step += 1
        if self.config["steps"] - self.step >= self.config["average_last"]:
            self.averaged = 0  # a finished run that goes on begins its average anew
        elif self.step % 20 == 0:
            self.averaged += 1
            for name, value in self.model.state_dict().items():
                self.average[name] += (value - self.average[name]) / self.averaged
        return marks.item(), casings.item()

    def run(self) -> None:
        """Train to the configured step, with a line of losses now and then; write averaged.pt at the end."""
        self.model.train()
        since, sums = time.monotonic(), np.zeros(2)
        while self.step < self.config["steps"]:
            sums += self.one_step()
            if self.step % REPORT_EVERY == 0:
                seconds, since = time.monotonic() - since, time.monotonic()
                losses = "  ".join(f"{x / REPORT_EVERY:.4f}" for x in sums)
                print(f"{self.step}  {losses}  {seconds / REPORT_EVERY * 1000:.0f} ms/step", flush=True)
                sums[:] = 0
            if self.step % SAVE_EVERY == 0:
                self.save()
        self.save()
        torch.save(self.average, self.out / "averaged.pt")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder written by models.text.corpus")
    parser.add_argument("out", type=Path, help="folder for checkpoints")
    parser.add_argument("--steps", type=int, help="instead of the configured number")
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    arguments.out.mkdir(parents=True, exist_ok=True)
    Trainer(arguments.data, arguments.out, arguments.steps).run()


if __name__ == "__main__":
    main()
