"""Exports a checkpoint as a streaming ONNX graph and checks it against PyTorch before anything is written for good.

    python -m models.asr.export RUN/model.pt OUT [--weights last] [--prior labels.npz --prior-weight 0.3]

OUT/acoustic.onnx takes `features` (B, T, mels), T a multiple of 4, and the named states, and gives `log_probs` and
`<state>_out`. Batch and time are dynamic: the same weights serve a 40 ms live step and a long batch chunk.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.asr.model import AcousticModel, Mixer, causal_depthwise
from models.asr.score import load_model

TOLERANCE = 2e-4  # log-probabilities, float32


def rms_norm(x: Tensor, weight: Tensor) -> Tensor:
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * weight


def ssd_once(x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor, S: Tensor) -> tuple[Tensor, Tensor]:
    """`models.asr.model.ssd` with the whole run as one chunk: MatMul, CumSum, Exp and Mul only, no loop.

    x (b, L, H, P), dt (b, L, H), A (H), B and C (b, L, N), S (b, H, P, N).
    """
    X = (x * dt[..., None]).transpose(1, 2)  # (b, H, L, P)
    log_decay = torch.cumsum((dt * A).transpose(1, 2), dim=-1)  # (b, H, L)
    gap = log_decay[..., :, None] - log_decay[..., None, :]
    past = torch.tril(torch.ones_like(gap[:1, :1]))
    decay = torch.exp(gap * past + (past - 1.0) * 1e4)  # the mask comes before the exponential: no overflow
    B, C = B[:, None], C[:, None]  # one for all heads
    Y = ((C @ B.transpose(-1, -2)) * decay) @ X
    Y = Y + (C @ S.transpose(-1, -2)) * torch.exp(log_decay)[..., None]
    last = log_decay[..., -1:]
    fed = (X * torch.exp(last - log_decay)[..., None]).transpose(-1, -2) @ B
    return Y.transpose(1, 2), S * torch.exp(last)[..., None] + fed


def mix(m: Mixer, x: Tensor, tail: Tensor, S: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    c = m.c
    z, mixed, dt = m.project(x).split([m.inner, m.mixed, c.heads], dim=-1)
    mixed, tail = causal_depthwise(mixed, m.conv_weight, m.conv_bias, tail)
    u, B, C = F.silu(mixed).split([m.inner, c.state, c.state], dim=-1)
    u = u.reshape(u.shape[0], -1, c.heads, c.head_dim)
    y, S = ssd_once(u, F.softplus(dt + m.dt_bias), -torch.exp(m.log_A), B, C, S)
    y = (y + u * m.D[:, None]).flatten(-2)
    return m.out(rms_norm(y * F.silu(z), m.norm.weight)), tail, S


class Streaming(nn.Module):
    """The network as a graph of plain operations, with an optional prior divided out of the posteriors."""

    def __init__(self, model: AcousticModel, log_prior: Tensor) -> None:
        super().__init__()
        self.model, self.log_prior = model, log_prior

    def forward(self, features: Tensor, *state: Tensor) -> tuple[Tensor, ...]:
        m = self.model
        x, mel_tail, frontend_tail = m.frontend(features, state[0], state[1])
        after = [mel_tail, frontend_tail]
        for i, block in enumerate(m.blocks):
            y, tail, S = mix(block.mixer, rms_norm(x, block.norm_mixer.weight), state[2 + 2 * i], state[3 + 2 * i])
            x = x + y
            x = x + block.down(F.relu(block.up(rms_norm(x, block.norm_ffn.weight))).square())
            after += [tail, S]
        return F.log_softmax(m.head(rms_norm(x, m.norm.weight)) - self.log_prior, dim=-1), *after


def log_prior(labels: Path | None, weight: float, tokens: int) -> Tensor:
    """`weight` times the log frequency of each token among aligned frames, zero without labels."""
    if labels is None or weight == 0.0:
        return torch.zeros(tokens)
    counts = np.bincount(np.load(labels)["labels"], minlength=tokens) + 100.0
    return torch.tensor(weight * np.log(counts / counts.sum()), dtype=torch.float32)


def export_graph(model: AcousticModel, prior: Tensor, path: Path) -> None:
    names = list(model.state_shapes())
    outputs = ["log_probs", *(f"{name}_out" for name in names)]
    dynamic = {"features": {0: "batch", 1: "frames"}, "log_probs": {0: "batch", 1: "labels"}}
    dynamic |= {n: {0: "batch"} for name in names for n in (name, f"{name}_out")}
    example = (torch.randn(2, 32, model.c.mels), *model.initial_state(2))
    torch.onnx.export(
        Streaming(model, prior).eval(), example, str(path), input_names=["features", *names], output_names=outputs,
        dynamic_axes=dynamic, opset_version=17, dynamo=False,
    )  # fmt: skip
    graph = onnx.load(str(path))
    for key, value in model.c.as_dict().items():
        graph.metadata_props.add(key=key, value=str(value))
    onnx.save(graph, str(path))


@torch.inference_mode()
def largest_difference(model: AcousticModel, prior: Tensor, path: Path) -> float:
    """Between the graph, fed in uneven chunks with carried state, and PyTorch on the whole."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    features = torch.randn(3, 400, model.c.mels)
    whole, _ = model(features)
    expected = F.log_softmax(whole - prior, dim=-1).numpy()
    state = {name: np.zeros((3, *shape), np.float32) for name, shape in model.state_shapes().items()}
    parts, at = [], 0
    for size in (4, 16, 200, 40, 140):
        outputs = session.run(None, {"features": features[:, at : at + size].numpy(), **state})
        parts.append(outputs[0])
        state = dict(zip(state, outputs[1:], strict=True))
        at += size
    return float(np.abs(np.concatenate(parts, axis=1) - expected).max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--weights", choices=("average", "last"), default="average", help="last: after a decay to zero")
    parser.add_argument("--prior", type=Path, help="labels to count the prior from")
    parser.add_argument("--prior-weight", type=float, default=0.0)
    args = parser.parse_args()
    model = load_model(args.checkpoint, averaged=args.weights == "average")
    prior = log_prior(args.prior, args.prior_weight, model.c.tokens)
    args.out.mkdir(parents=True, exist_ok=True)
    temporary = args.out / "acoustic.unchecked.onnx"
    export_graph(model, prior, temporary)
    difference = largest_difference(model, prior, temporary)
    if difference > TOLERANCE:
        raise SystemExit(f"{temporary} differs from PyTorch by {difference:.2g}, more than {TOLERANCE}")
    temporary.replace(args.out / "acoustic.onnx")
    parameters = sum(p.numel() for p in model.parameters())
    print(f"{args.out}/acoustic.onnx: {parameters / 1e6:.2f} M parameters, differs from PyTorch by {difference:.1g}")


if __name__ == "__main__":
    main()
