"""Deepens a trained acoustic model: `python -m models.asr.grow CHECKPOINT OUT --layers 12`.

New blocks stand evenly between the old ones. Their last projections are zero, so that the deeper network begins as the
same function and learns from there (network morphism: Wei et al. 2016, arXiv 1603.01670).
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import torch

from models.asr.model import AcousticModel, ModelConfig

Weights = dict[str, torch.Tensor]


def places(old: int, new: int) -> list[int]:
    """Where each of `old` blocks stands among `new` ones: in order, the last one last."""
    return [(i + 1) * new // old - 1 for i in range(old)]


def deepened(config: ModelConfig, weights: Weights, layers: int) -> tuple[ModelConfig, Weights]:
    """Configuration and weights of the deeper network. Raises ValueError if it would not be deeper."""
    if layers <= config.layers:
        raise ValueError(f"the network has {config.layers} layers already, got --layers {layers}")
    deeper = replace(config, layers=layers)
    torch.manual_seed(layers)
    grown = AcousticModel(deeper).state_dict()
    for name, value in grown.items():
        if name.startswith("blocks.") and (".mixer.out." in name or ".down." in name):
            value.zero_()
    for old, new in enumerate(places(config.layers, layers)):
        for name in [n for n in weights if n.startswith(f"blocks.{old}.")]:
            grown[name.replace(f"blocks.{old}.", f"blocks.{new}.", 1)].copy_(weights[name])
    grown.update({name: value for name, value in weights.items() if not name.startswith("blocks.")})
    return deeper, grown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--layers", type=int, required=True)
    args = parser.parse_args()
    saved = torch.load(args.checkpoint, map_location="cpu", weights_only=True)
    average = {name: value.float() for name, value in saved["average"].items()}
    config, weights = deepened(ModelConfig(**saved["config"]), average, args.layers)
    torch.save({"config": config.as_dict(), "average": weights}, args.out)


if __name__ == "__main__":
    main()
