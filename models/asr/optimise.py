"""The optimiser: Muon for the matrices of the blocks, AdamW for all else, gradients summed over worker processes.

Muon (Jordan et al., 2024, https://kellerjordan.github.io/posts/muon/) replaces a matrix's momentum by the nearest
orthogonal matrix, found with a quintic Newton-Schulz iteration. Each worker orthogonalises its share of the matrices.
"""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import Tensor, nn


def orthogonal(g: Tensor, steps: int = 5) -> Tensor:
    """The nearest semi-orthogonal matrix to `g`, roughly: singular values between 0.7 and 1.2."""
    a, b, c = 3.4445, -4.7750, 2.0315
    x = g.T if g.shape[0] > g.shape[1] else g
    x = x / (x.norm() + 1e-7)
    for _ in range(steps):
        s = x @ x.T
        x = a * x + (b * s + c * (s @ s)) @ x
    return x.T if g.shape[0] > g.shape[1] else x


class Optimiser:
    def __init__(self, model: nn.Module, lr: float, dtype: torch.dtype = torch.float32, decay: float = 0.02) -> None:
        self.model, self.lr, self.dtype, self.decay = model, lr, dtype, decay
        self.rank, self.world = (dist.get_rank(), dist.get_world_size()) if dist.is_initialized() else (0, 1)
        named = list(model.named_parameters())
        self.matrices = [p for n, p in named if p.ndim == 2 and n.startswith("blocks") and "conv" not in n]
        chosen = {id(p) for p in self.matrices}
        self.others = [p for _, p in named if id(p) not in chosen]
        self.momentum = [torch.zeros_like(p) for p in self.matrices]
        self.adam = torch.optim.AdamW(self.others, lr=lr, betas=(0.9, 0.98), weight_decay=0.0)

    def share(self, elapsed: float) -> float:
        """Sum the gradients over the workers; returns worker 0's clock, so that all follow one schedule."""
        parameters = [*self.matrices, *self.others]
        if self.world == 1:
            return elapsed
        clock = torch.tensor([elapsed if self.rank == 0 else 0.0])
        flat = torch.cat([*(p.grad.reshape(-1) for p in parameters), clock])
        dist.all_reduce(flat)
        at = 0
        for p in parameters:
            p.grad.copy_(flat[at : at + p.numel()].view_as(p)).div_(self.world)
            at += p.numel()
        return float(flat[-1])

    @torch.no_grad()
    def step(self, scale: float) -> float:
        """One update at `scale` times the learning rate; returns the gradient's norm before clipping."""
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
        for group in self.adam.param_groups:
            group["lr"] = self.lr * scale
        self.adam.step()
        updates = []
        for i, (p, m) in enumerate(zip(self.matrices, self.momentum, strict=True)):
            m.lerp_(p.grad, 0.05)
            mine = i % self.world == self.rank
            update = orthogonal(p.grad.lerp(m, 0.95).to(self.dtype)).to(p.dtype) if mine else torch.zeros_like(p)
            updates.append(update)
        if self.world > 1:
            flat = torch.cat([u.reshape(-1) for u in updates])
            dist.all_reduce(flat)
            updates = [
                u.view_as(p) for u, p in zip(flat.split([p.numel() for p in self.matrices]), self.matrices, strict=True)
            ]
        rate = self.lr * scale
        for p, u in zip(self.matrices, updates, strict=True):
            p.mul_(1 - rate * self.decay).add_(u, alpha=-rate * 0.2 * max(p.shape) ** 0.5)
        self.model.zero_grad(set_to_none=False)
        return float(norm)

    def state(self) -> dict[str, object]:
        return {"momentum": self.momentum, "adam": self.adam.state_dict()}

    def restore(self, state: dict[str, object]) -> None:
        for mine, saved in zip(self.momentum, state["momentum"], strict=True):  # type: ignore[call-overload]
            mine.copy_(saved)
        self.adam.load_state_dict(state["adam"])  # type: ignore[arg-type]
