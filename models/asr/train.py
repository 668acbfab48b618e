"""Trains the acoustic model: `python -m models.asr.train STORE RUN --sources mini=1 cv=0.7 --minutes 60`.

The schedule follows the clock, not a count of steps: the learning rate rises, holds and falls to zero within --minutes,
whatever else the machine does. RUN/model.pt is written every few minutes; the same command resumes it. --from starts a
new run with another's weights. Frame cross-entropy on alignments teaches fast; CTC (--ctc) polishes without them,
lattice-free MMI (--mmi) by what tells a sentence from all others.
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from models.asr.augment import Augmenter
from models.asr.batches import IGNORE, Batch, Store, batches
from models.asr.mmi import log_partition, phone_trigram
from models.asr.model import AcousticModel, ModelConfig
from models.asr.optimise import Optimiser

SIZES = {"d": 192, "layers": 8, "heads": 6, "head_dim": 48, "ffn": 512, "delay": 5, "tokens": 42}


def schedule(progress: float, warm: float = 0.04, hold: float = 0.35) -> float:
    """Learning-rate factor at `progress` 0 to 1 of the run."""
    if progress < warm:
        return progress / warm
    return 1.0 if progress < hold else max(0.0, (1.0 - progress) / (1.0 - hold))


def losses(
    log_probs: Tensor, batch: Batch, ctc: float, delay: int, trigram: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Weighted loss, cross-entropy and frame accuracy of a batch. With a phone trigram CTC becomes LF-MMI."""
    flat, labels = log_probs.flatten(0, 1), batch.labels.flatten()
    known = labels != IGNORE
    ce = -(batch.targets * log_probs).sum() / known.sum()
    accuracy = (flat.argmax(-1)[known] == labels[known]).float().mean()
    if ctc == 0.0:
        return ce, ce, accuracy
    lengths, by_frame = batch.lengths - delay, log_probs[:, delay:].transpose(0, 1)
    own = F.ctc_loss(
        by_frame, batch.phones, lengths, batch.phone_lengths, reduction="sum", zero_infinity=True
    )  # minus the log of the sum over paths of the utterance's own phones
    every = log_partition(by_frame, lengths, trigram).sum() if trigram is not None else 0.0
    return ctc * (own + every) / lengths.sum() + (1 - ctc) * ce, ce, accuracy


class Likeness(nn.Module):
    """How far the network's last layer is from telling a teacher's features: 1 - cosine after a linear map."""

    def __init__(self, model: AcousticModel, width: int) -> None:
        super().__init__()
        self.map = nn.Linear(model.c.d, width)
        self.seen: list[Tensor] = []
        model.norm.register_forward_hook(lambda _module, _given, out: self.seen.append(out))

    def forward(self, hidden: Tensor | None) -> Tensor:
        """Mean over the frames of `hidden` (b, L, width) that are not all zero."""
        last = self.seen.pop()
        if hidden is None:
            return 0.0 * self.map.bias.sum()
        known = hidden.abs().sum(-1) > 0
        return (1 - F.cosine_similarity(self.map(last[known].float()), hidden[known], dim=-1)).mean()


def passed_state(state: list[Tensor] | None, size: int, rng: np.random.Generator) -> list[Tensor] | None:
    """The last batch's final state as this one's first, half of the time, so that training covers long streams.

    Without it a network trained on 16 s drifts on hours.
    """
    if state is None or rng.random() < 0.5:
        return None
    rows = torch.from_numpy(rng.integers(0, state[0].shape[0], size))
    keep = torch.from_numpy((rng.random(size) < 0.8).astype(np.float32))
    return [s[rows] * keep.view(-1, *([1] * (s.ndim - 1))) for s in state]


class Run:
    """One worker's training: model, optimiser, running average, checkpoint."""

    def __init__(self, args: argparse.Namespace, rank: int) -> None:
        self.args, self.rank, self.elapsed, self.steps, self.heard = args, rank, 0.0, 0, 0.0
        self.path = args.run / "model.pt"
        start = self.path if self.path.exists() else args.start
        saved = torch.load(start, map_location="cpu", weights_only=True) if start else None
        sizes = {name: getattr(args, name) for name in SIZES}
        c = ModelConfig(**(saved["config"] if saved else sizes))
        torch.manual_seed(args.seed)  # every worker starts from the same weights
        self.model = AcousticModel(replace(c, dropout=args.dropout))
        if saved:
            self.model.load_state_dict(saved["model" if self.path.exists() else "average"])
        self.optimiser = Optimiser(self.model, args.lr, torch.bfloat16 if args.bf16 else torch.float32)
        self.average = {k: v.clone() for k, v in self.model.state_dict().items()}
        if self.path.exists() and saved:
            self.optimiser.restore(saved["optimiser"])
            self.average = saved["average"]
            self.elapsed, self.steps, self.heard = saved["elapsed"], saved["steps"], saved["heard"]

    def save(self) -> None:
        temporary = self.path.with_suffix(".tmp")
        torch.save(
            {"config": self.model.c.as_dict(), "model": self.model.state_dict(), "average": self.average,
             "optimiser": self.optimiser.state(), "elapsed": self.elapsed, "steps": self.steps, "heard": self.heard},
            temporary,
        )  # fmt: skip
        os.replace(temporary, self.path)

    def report(self, means: NDArray[np.float64]) -> None:
        loss, ce, accuracy, norm = means
        heard = f"{self.elapsed / 60:6.1f} min  step {self.steps}  heard {self.heard / 3600:.2f} h"
        print(
            f"{heard}  loss {loss:.3f}  ce {ce:.3f}  frames right {100 * accuracy:.1f} %  grad {norm:.2f}", flush=True
        )

    @torch.no_grad()
    def update_average(self, progress: float) -> None:
        keep = min(0.998, 1 - 1 / (self.steps + 2)) if progress < 1 else 0.998
        for k, v in self.model.state_dict().items():
            self.average[k].lerp_(v, 1 - keep)

    def train(self) -> None:
        args = self.args
        rng = np.random.default_rng([args.seed, self.rank, self.steps])
        torch.manual_seed(args.seed + self.rank)
        noises = np.load(args.noises)["power"] if args.noises else None
        stores = [(Store(args.store, s.split("=")[0]), float(s.split("=")[1])) for s in args.sources]
        more = dict(item.split("=") for item in args.augment)
        augment = Augmenter(noises, masks=tuple(args.masks), **{name: float(value) for name, value in more.items()})
        c = self.model.c
        feed = batches(stores, augment, c.delay, c.tokens, args.batch_seconds, rng)
        clock, saved_at, state = time.monotonic() - self.elapsed, time.monotonic(), None
        self.model.train()
        like = Likeness(self.model, width := next((s.hidden.shape[1] for s, _ in stores if s.hidden is not None), 1))
        mapping = torch.optim.AdamW(like.map.parameters(), lr=1e-3) if width > 1 else None
        trigram = phone_trigram([p for store, _ in stores for p in store.sequences()], self.model.c.tokens)
        recent: list[tuple[float, ...]] = []
        for batch in feed:
            first = passed_state(state, len(batch.features), rng)
            with torch.autocast("cpu", torch.bfloat16, enabled=args.bf16):
                log_probs, after = self.model(batch.features, first)
            state = [s.detach() for s in after]
            full = trigram if rng.random() < args.mmi else None
            loss, ce, accuracy = losses(log_probs.float(), batch, args.ctc, self.model.c.delay, full)
            (loss + args.hidden * like(batch.hidden)).backward()
            if mapping:
                mapping.step()
                mapping.zero_grad()
            self.elapsed = self.optimiser.share(time.monotonic() - clock)
            progress = self.elapsed / (60 * args.minutes)
            norm = self.optimiser.step(schedule(progress))
            self.steps += 1
            self.heard += batch.seconds * self.optimiser.world
            recent.append((loss.item(), ce.item(), accuracy.item(), norm))
            if self.rank == 0:
                self.update_average(progress)
                if self.steps % 25 == 0:
                    self.report(np.mean(recent[-25:], axis=0))
                if time.monotonic() - saved_at > 120 or progress >= 1:
                    self.save()
                    saved_at = time.monotonic()
            if progress >= 1:
                return


def worker(rank: int, args: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    if args.workers > 1:
        dist.init_process_group(
            "gloo", init_method=f"file://{args.run.resolve()}/meeting", rank=rank, world_size=args.workers
        )
    Run(args, rank).train()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("run", type=Path)
    parser.add_argument("--sources", nargs="+", required=True, metavar="NAME=WEIGHT")
    parser.add_argument("--from", dest="start", type=Path, help="checkpoint whose averaged weights to begin with")
    parser.add_argument("--noises", type=Path, help="npz with `power` (frames, mels), natural log")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--batch-seconds", type=float, default=64, help="padded audio in a worker's batch")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--ctc", type=float, default=0.0, help="weight of CTC against frame cross-entropy, 0 to 1")
    parser.add_argument("--mmi", type=float, default=0.0, help="share of batches whose CTC loss is lattice-free MMI")
    parser.add_argument("--hidden", type=float, default=0.0, help="weight of likeness to a teacher's features")
    parser.add_argument("--bf16", action="store_true", help="products in bfloat16: half the time where the CPU has it")
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--masks", type=int, nargs=2, default=(15, 20), metavar=("BINS", "FRAMES"))
    parser.add_argument("--augment", nargs="*", default=[], metavar="NAME=VALUE", help="of `augment.Augmenter`")
    parser.add_argument("--seed", type=int, default=1)
    for name, value in SIZES.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=value)
    args = parser.parse_args()
    args.run.mkdir(parents=True, exist_ok=True)
    (args.run / "meeting").unlink(missing_ok=True)
    if args.workers == 1:
        worker(0, args)
    else:
        mp.spawn(worker, (args,), nprocs=args.workers)


if __name__ == "__main__":
    main()
