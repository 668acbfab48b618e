"""A teacher for the acoustic model: phone posteriors from Whisper's features, by a small network that sees both sides.

    python -m models.asr.teacher STORE FEATURES --names mini libri4 cv --steps 1200 [--teach so762a] [--measure dev ...]

FEATURES is what `whisper_features.py` wrote. Trains on the alignments (cross-entropy and CTC), then writes beside each
store NAME.soft.npy, its posteriors (label frames, tokens), and NAME.hidden.npy, Whisper's features at 25 a second:
`batches.py` takes both. Two dozen readers do not show how voices differ; a network that has heard thousands knows.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from models.asr.align import read_lexicon
from models.asr.batches import IGNORE
from models.asr.phone_error import distance, greedy

BATCH_FRAMES = 3000
LR = 1.5e-3


class Block(nn.Module):
    """A depthwise convolution over time and a feed-forward part, each residual."""

    def __init__(self, d: int, taps: int = 7) -> None:
        super().__init__()
        self.norm_time, self.norm_ffn = nn.LayerNorm(d), nn.LayerNorm(d)
        self.time, self.mix = nn.Conv1d(d, d, taps, padding=taps // 2, groups=d), nn.Linear(d, d)
        self.up, self.down = nn.Linear(d, 2 * d), nn.Linear(2 * d, d)

    def forward(self, x: Tensor) -> Tensor:
        y = self.time(self.norm_time(x).transpose(1, 2)).transpose(1, 2)
        x = x + F.dropout(self.mix(F.silu(y)), 0.1, self.training)
        return x + F.dropout(self.down(F.silu(self.up(self.norm_ffn(x)))), 0.1, self.training)


class Teacher(nn.Module):
    def __init__(self, width: int, tokens: int, d: int = 256, layers: int = 3) -> None:
        super().__init__()
        self.norm, self.project = nn.LayerNorm(width), nn.Linear(2 * width, d)
        self.blocks = nn.Sequential(*(Block(d) for _ in range(layers)))
        self.last, self.head = nn.LayerNorm(d), nn.Linear(d, tokens)

    def forward(self, features: Tensor) -> Tensor:
        """features (b, 2 L, width), 50 a second -> log-probabilities (b, L, tokens)."""
        pairs = self.norm(features).reshape(features.shape[0], -1, 2 * features.shape[2])
        x = self.project(F.dropout(pairs, 0.15, self.training))
        return F.log_softmax(self.head(self.last(self.blocks(x))).float(), dim=-1)


class Taught:
    """Whisper's features of one store beside its labels."""

    def __init__(self, store: Path, features: Path, name: str) -> None:
        self.name, self.offsets = name, np.load(features / f"{name}.npz")["offsets"]
        flat = np.memmap(features / f"{name}.f16", np.float16, "r")
        self.features = flat.reshape(self.offsets[-1], -1)
        data = np.load(store / f"{name}.labels.npz")
        self.labels, self.at = data["labels"], data["offsets"]
        self.phones, self.phones_at = data["phones"], data["phone_offsets"]
        lines = (store / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        self.texts = [json.loads(line)["text"] for line in lines]

    def frames(self, i: int) -> int:
        """Label frames of utterance `i`; 0 where it could not be aligned."""
        return int(self.at[i + 1] - self.at[i])

    def get(self, i: int, frames: int) -> NDArray[np.float32]:
        """Features (2 `frames`, width) of utterance `i`, zeros past its end."""
        rows = self.features[self.offsets[i] : self.offsets[i + 1]][: 2 * frames]
        return np.pad(rows.astype(np.float32), ((0, 2 * frames - len(rows)), (0, 0)))


def groups(stores: list[Taught], rng: np.random.Generator) -> Iterator[list[tuple[Taught, int]]]:
    """Endless batches of utterances of similar lengths."""
    chosen = [(s, i) for s in stores for i in range(len(s.texts)) if s.frames(i)]
    while True:
        for pool in np.array_split(rng.permutation(len(chosen)), max(1, len(chosen) // 400)):
            made: list[list[tuple[Taught, int]]] = [[]]
            for k in sorted(pool, key=lambda k: chosen[k][0].frames(chosen[k][1])):
                store, i = chosen[k]
                if made[-1] and store.frames(i) * (len(made[-1]) + 1) > BATCH_FRAMES:
                    made.append([])
                made[-1].append((store, i))
            for g in rng.permutation(len(made)):
                yield made[g]


def loss(model: Teacher, group: list[tuple[Taught, int]]) -> Tensor:
    """Half cross-entropy on the alignment, half CTC."""
    longest = max(s.frames(i) for s, i in group)
    features = torch.from_numpy(np.stack([s.get(i, longest) for s, i in group]))
    labels = np.full((len(group), longest), IGNORE, np.int64)
    for row, (s, i) in enumerate(group):
        labels[row, : s.frames(i)] = s.labels[s.at[i] : s.at[i + 1]]
    phones = [s.phones[s.phones_at[i] : s.phones_at[i + 1]] for s, i in group]
    with torch.autocast("cpu", torch.bfloat16):
        log_probs = model(features)
    lengths = torch.tensor([s.frames(i) for s, i in group])
    ce = F.nll_loss(log_probs.flatten(0, 1), torch.from_numpy(labels).flatten(), ignore_index=IGNORE)
    ctc = F.ctc_loss(
        log_probs.transpose(0, 1), torch.from_numpy(np.concatenate(phones).astype(np.int64)), lengths,
        torch.tensor([len(p) for p in phones]), reduction="sum", zero_infinity=True,
    )  # fmt: skip
    return 0.5 * ce + 0.5 * ctc / lengths.sum()


def train(model: Teacher, stores: list[Taught], steps: int) -> None:
    """The learning rate falls to zero within `steps`."""
    optimiser, recent = torch.optim.AdamW(model.parameters(), LR, weight_decay=0.02), []
    for step, group in enumerate(islice(groups(stores, np.random.default_rng(1)), steps), 1):
        progress = step / steps
        for settings in optimiser.param_groups:
            settings["lr"] = LR * min(1.0, progress / 0.03) * (1.0 - progress)
        value = loss(model, group)
        optimiser.zero_grad()
        value.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        recent.append(value.item())
        if step % 50 == 0:
            print(f"step {step} of {steps}  loss {np.mean(recent[-50:]):.3f}", flush=True)


@torch.inference_mode()
def teach(model: Teacher, store: Taught, folder: Path) -> None:
    """Write posteriors and features beside the store, a row for each label frame.

    Each file takes its name when it is whole: a training run may hold an older one.
    """
    widths = {"soft": model.head.out_features, "hidden": store.features.shape[1]}
    paths = {kind: folder / f"{store.name}.{kind}.npy" for kind in widths}
    soft, hidden = (
        np.lib.format.open_memmap(paths[kind].with_suffix(".tmp"), "w+", np.float16, (int(store.at[-1]), width))
        for kind, width in widths.items()
    )
    for i in range(len(store.texts)):
        if frames := store.frames(i):
            features = torch.from_numpy(store.get(i, frames))
            rows = slice(int(store.at[i]), int(store.at[i + 1]))
            soft[rows] = model(features[None])[0].exp().numpy()
            hidden[rows] = F.layer_norm(features, features.shape[1:]).reshape(frames, 2, -1).mean(1).numpy()
    for path in paths.values():
        path.with_suffix(".tmp").replace(path)


@torch.inference_mode()
def phone_error(model: Teacher, store: Taught, lexicon: dict[str, list[list[int]]], every: int = 4) -> float:
    """Percent of phones wrong, greedily, in every so many utterances."""
    wrong = total = 0
    for i in range(0, len(store.texts), every):
        words = store.texts[i].split()
        frames = int(store.offsets[i + 1] - store.offsets[i]) // 2
        if all(word in lexicon for word in words):
            found = greedy(model(torch.from_numpy(store.get(i, frames))[None])[0].numpy())
            errors, length = distance(found, [lexicon[word] for word in words])
            wrong, total = wrong + errors, total + length
    return 100 * wrong / total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("features", type=Path)
    parser.add_argument("--names", nargs="+", required=True, help="stores to learn from, whose transcripts are right")
    parser.add_argument("--teach", nargs="*", default=[], help="more stores to write posteriors of")
    parser.add_argument("--steps", type=int, default=1200)
    parser.add_argument("--measure", nargs="*", default=[], help="stores to print the phone error rate of")
    parser.add_argument("--lexicon", type=Path, help="folder with lexicon.tsv and tokens.txt")
    parser.add_argument("--tokens", type=int, default=42)
    args = parser.parse_args()
    torch.manual_seed(1)
    learnt = [Taught(args.store, args.features, name) for name in args.names]
    model = Teacher(learnt[0].features.shape[1], args.tokens)
    train(model, learnt, args.steps)
    model.eval()
    for name in args.measure:
        rate = phone_error(model, Taught(args.store, args.features, name), read_lexicon(args.lexicon)[0])
        print(f"{name}: {rate:.2f} % of the phones wrong", flush=True)
    for name in [*args.names, *args.teach]:
        teach(model, Taught(args.store, args.features, name), args.store)


if __name__ == "__main__":
    main()
