"""A network made deeper says what the shallower one said, until it learns more."""

from __future__ import annotations

import pytest
import torch

from models.asr.grow import deepened, places
from models.asr.model import AcousticModel, ModelConfig

SMALL = ModelConfig(tokens=5, mels=8, frontend=8, d=16, layers=2, heads=2, head_dim=4, state=4, ffn=16)


def test_the_deeper_network_begins_as_the_same_function() -> None:
    torch.manual_seed(1)
    shallow = AcousticModel(SMALL).eval()
    config, weights = deepened(SMALL, shallow.state_dict(), 5)
    deep = AcousticModel(config).eval()
    deep.load_state_dict(weights)
    features = torch.randn(2, 64, SMALL.mels)
    assert torch.allclose(shallow(features, None)[0], deep(features, None)[0], atol=1e-6)
    loss = deep(features, None)[0].square().mean()
    loss.backward()
    assert deep.blocks[0].down.weight.grad.abs().sum() > 0  # a new block, which learns


def test_old_blocks_stand_evenly_and_in_order() -> None:
    assert places(8, 12) == [0, 2, 3, 5, 6, 8, 9, 11]
    assert places(2, 5) == [1, 4]
    with pytest.raises(ValueError, match="has 2 layers already, got --layers 2"):
        deepened(SMALL, {}, 2)
