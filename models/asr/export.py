"""Exports a checkpoint as a streaming ONNX graph and checks it against PyTorch before anything is written for good.

    python -m models.asr.export RUN.pt OUT [--weights last] [--prior labels.npz --prior-weight 0.3] [--speech SPEECH.pt]

OUT/acoustic.onnx takes `features` (B, T, mels), T a multiple of 4, and the named states, and gives `log_probs` and
`<state>_out`, the states as float16. Batch and time are dynamic: the same weights serve a 40 ms live step and a long
batch chunk. Matrices are stored as float16, half the size of what is computed with. With a detector's checkpoint
(`models.asr.detector`) it also gives `speech`, log odds of speech (B, T / 4).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.asr.model import AcousticModel, Frontend, Mixer
from models.asr.score import load_model

TOLERANCE = 2e-4  # log-probabilities, float32
SPEECH = "speech_"  # before the names of the detector's states
RANGE = 64.0  # some mixers carry up to 1e5: saved in parts of this, they stay within float16
LARGEST = 6e4  # of what is carried, in those parts
HALVED = 1000  # numbers in a matrix, above which it is stored as float16


def rms_norm(x: Tensor, weight: Tensor) -> Tensor:
    """In the form that onnxruntime replaces by one operation (SimplifiedLayerNormalization)."""
    return x / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * weight


def convolve(conv: nn.Conv1d, x: Tensor) -> Tensor:
    """Stride 2 over x (b, n, channels), n odd, as one product: a third of the time of Conv on so few frames."""
    last = conv.kernel_size[0] - 1
    seen = torch.cat([x[:, k : k - last if k < last else None : 2] for k in range(last + 1)], dim=-1)
    return seen @ conv.weight.permute(2, 1, 0).flatten(0, 1) + conv.bias


def depthwise(x: Tensor, weight: Tensor, bias: Tensor, tail: Tensor) -> tuple[Tensor, Tensor]:
    """`models.asr.model.causal_depthwise` with slices that count from the end, which need no shapes at run time."""
    last = weight.shape[0] - 1
    padded = torch.cat([tail, x], dim=1)
    y = padded[:, last:] * weight[last] + bias
    for k in range(last):
        y = y + padded[:, k : k - last] * weight[k]
    return y, padded[:, -last:]


def frontend(m: Frontend, x: Tensor, tail_1: Tensor, tail_2: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    keep = m.TAPS - 2
    x = torch.cat([tail_1, x], dim=1)
    y = torch.cat([tail_2, F.silu(convolve(m.first, x))], dim=1)
    return F.silu(convolve(m.second, y)), x[:, -keep:], y[:, -keep:]


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
    mixed, tail = depthwise(mixed, m.conv_weight, m.conv_bias, tail)
    u, B, C = F.silu(mixed).split([m.inner, c.state, c.state], dim=-1)
    u = u.reshape(u.shape[0], -1, c.heads, c.head_dim)
    y, S = ssd_once(u, F.softplus(dt + m.dt_bias), -torch.exp(m.log_A), B, C, S)
    y = (y + u * m.D[:, None]).flatten(-2)
    return m.out(rms_norm(y * F.silu(z), m.norm.weight)), tail, S


def scores(m: AcousticModel, features: Tensor, state: Sequence[Tensor]) -> tuple[Tensor, list[Tensor]]:
    """`AcousticModel.forward` before its softmax, in plain operations."""
    x, mel_tail, frontend_tail = frontend(m.frontend, features, state[0], state[1])
    after = [mel_tail, frontend_tail]
    for i, block in enumerate(m.blocks):
        y, tail, S = mix(block.mixer, rms_norm(x, block.norm_mixer.weight), state[2 + 2 * i], state[3 + 2 * i])
        x = x + y
        x = x + block.down(F.relu(block.up(rms_norm(x, block.norm_ffn.weight))).square())
        after += [tail, S]
    return m.head(rms_norm(x, m.norm.weight)), after


class Streaming(nn.Module):
    """The network as a graph of plain operations, a prior divided out of the posteriors, a detector beside it."""

    def __init__(self, model: AcousticModel, log_prior: Tensor, detector: AcousticModel | None = None) -> None:
        super().__init__()
        self.model, self.log_prior, self.detector = model, log_prior, detector
        self.names = list(model.state_shapes())
        if detector is not None:
            self.names += [SPEECH + name for name in detector.state_shapes()]

    def initial_state(self, batch: int) -> list[Tensor]:
        """Of both networks, one after the other."""
        own = self.model.initial_state(batch)
        return own if self.detector is None else own + self.detector.initial_state(batch)

    def forward(self, features: Tensor, *state: Tensor) -> tuple[Tensor, ...]:
        """Log-probabilities, the log odds of speech where there is a detector, and the new states."""
        own = len(self.model.state_shapes())
        before = [s * RANGE if "ssm" in n else s for n, s in zip(self.names, state, strict=True)]
        found, after = scores(self.model, features, before[:own])
        outputs = [F.log_softmax(found - self.log_prior, dim=-1)]
        if self.detector is not None:
            odds, theirs = scores(self.detector, features, before[own:])
            outputs.append(odds[..., 1] - odds[..., 0])
            after += theirs
        small = [torch.clamp(s / RANGE, -LARGEST, LARGEST) for s in after]
        after = [c if "ssm" in n else s for n, c, s in zip(self.names, small, after, strict=True)]
        return *outputs, *after


def log_prior(labels: Path | None, weight: float, tokens: int) -> Tensor:
    """`weight` times the log frequency of each token among aligned frames, zero without labels."""
    if labels is None or weight == 0.0:
        return torch.zeros(tokens)
    counts = np.bincount(np.load(labels)["labels"], minlength=tokens) + 100.0
    return torch.tensor(weight * np.log(counts / counts.sum()), dtype=torch.float32)


def export_graph(model: AcousticModel, prior: Tensor, path: Path, detector: AcousticModel | None = None) -> None:
    """Write the graph. Raises ValueError if the detector is none for this model."""
    if detector is not None and (detector.c.tokens, detector.c.mels, detector.c.delay) != (
        2, model.c.mels, model.c.delay,
    ):  # fmt: skip
        raise ValueError(
            f"a detector has 2 outputs, {model.c.mels} bins and a delay of {model.c.delay} as the model: "
            f"got {detector.c.tokens}, {detector.c.mels} and {detector.c.delay}"
        )
    streaming = Streaming(model, prior, detector).eval()
    outputs = ["log_probs", *(["speech"] if detector else []), *(f"{name}_out" for name in streaming.names)]
    dynamic = {"features": {0: "batch", 1: "frames"}, "log_probs": {0: "batch", 1: "labels"}}
    dynamic |= {"speech": {0: "batch", 1: "labels"}} if detector else {}
    dynamic |= {n: {0: "batch"} for name in streaming.names for n in (name, f"{name}_out")}
    example = (torch.randn(2, 32, model.c.mels), *streaming.initial_state(2))
    torch.onnx.export(
        streaming, example, str(path), input_names=["features", *streaming.names], output_names=outputs,
        dynamic_axes=dynamic, opset_version=17, dynamo=False,
    )  # fmt: skip
    graph = onnx.load(str(path))
    for key, value in model.c.as_dict().items():
        graph.metadata_props.add(key=key, value=str(value))
    halve(graph.graph)
    onnx.save(graph, str(path))


@torch.no_grad()
def rounded(model: AcousticModel) -> AcousticModel:
    """The model with its matrices as float16 holds them, so that `halve` changes nothing more."""
    for p in model.parameters():
        if p.ndim > 1:
            p.copy_(p.half())
    return model


def halve(graph: onnx.GraphProto) -> None:
    """Store the large matrices as float16: the file is half as large, and loading turns them into float32 again."""
    for tensor in [t for t in graph.initializer if t.data_type == onnx.TensorProto.FLOAT]:
        values = onnx.numpy_helper.to_array(tensor)
        if values.ndim > 1 and values.size > HALVED:
            name = tensor.name
            tensor.CopyFrom(onnx.numpy_helper.from_array(values.astype(np.float16), f"{name}.half"))
            cast = onnx.helper.make_node("Cast", [tensor.name], [name], to=onnx.TensorProto.FLOAT)
            graph.node.insert(0, cast)


def carry_halves(graph: onnx.GraphProto) -> None:
    """Take and give the states as float16, as they are kept: the conversion costs the caller more than the network."""
    half, full = onnx.TensorProto.FLOAT16, onnx.TensorProto.FLOAT
    taken = [i for i in graph.input if i.name != "features"]
    given = [o for o in graph.output if o.name in {f"{i.name}_out" for i in taken}]
    inside = {state.name: f"{state.name}.full" for state in (*taken, *given)}
    for node in graph.node:
        node.input[:] = [inside.get(name, name) for name in node.input]
        node.output[:] = [inside.get(name, name) for name in node.output]
    for i in taken:
        i.type.tensor_type.elem_type = half
        graph.node.insert(0, onnx.helper.make_node("Cast", [i.name], [inside[i.name]], to=full))
    for o in given:
        o.type.tensor_type.elem_type = half
        graph.node.append(onnx.helper.make_node("Cast", [inside[o.name]], [o.name], to=half))


@torch.inference_mode()
def largest_difference(model: AcousticModel, prior: Tensor, path: Path, detector: AcousticModel | None = None) -> float:
    """Between the graph, fed in uneven chunks with carried state, and PyTorch on the whole."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    features = torch.randn(3, 400, model.c.mels)
    expected = [F.log_softmax(model(features)[0] - prior, dim=-1).numpy()]
    if detector is not None:
        both = detector(features)[0]
        expected.append((both[..., 1] - both[..., 0]).numpy())
    streaming = Streaming(model, prior, detector)
    state = dict(zip(streaming.names, (s.numpy() for s in streaming.initial_state(3)), strict=True))
    parts, at = [], 0
    for size in (4, 16, 200, 40, 140):
        outputs = session.run(None, {"features": features[:, at : at + size].numpy(), **state})
        parts.append(outputs[: len(expected)])
        state = dict(zip(state, outputs[len(expected) :], strict=True))
        at += size
    found = [np.concatenate(part, axis=1) for part in zip(*parts, strict=True)]
    return max(float(np.abs(f - e).max()) for f, e in zip(found, expected, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--weights", choices=("average", "last"), default="average", help="last: after a decay to zero")
    parser.add_argument("--prior", type=Path, help="labels to count the prior from")
    parser.add_argument("--prior-weight", type=float, default=0.0)
    parser.add_argument("--speech", type=Path, help="checkpoint of the speech detector to put beside the network")
    args = parser.parse_args()
    model = rounded(load_model(args.checkpoint, averaged=args.weights == "average"))
    detector = rounded(load_model(args.speech)) if args.speech else None
    prior = log_prior(args.prior, args.prior_weight, model.c.tokens)
    args.out.mkdir(parents=True, exist_ok=True)
    temporary = args.out / "acoustic.unchecked.onnx"
    export_graph(model, prior, temporary, detector)
    difference = largest_difference(model, prior, temporary, detector)
    if difference > TOLERANCE:
        raise SystemExit(f"{temporary} differs from PyTorch by {difference:.2g}, more than {TOLERANCE}")
    graph = onnx.load(str(temporary))
    carry_halves(graph.graph)
    onnx.checker.check_model(graph, full_check=True)
    onnx.save(graph, str(args.out / "acoustic.onnx"))
    temporary.unlink()
    size = " and ".join(f"{sum(p.numel() for p in m.parameters()) / 1e6:.2f} M" for m in (model, detector) if m)
    print(f"{args.out}/acoustic.onnx: {size} parameters, differs from PyTorch by {difference:.1g}")


if __name__ == "__main__":
    main()
