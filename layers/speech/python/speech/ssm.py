"""The state-space mixer in plain numpy: the reference that the exported ONNX graphs and the training code are held to.

Glossary (Dao and Gu, "Transformers are SSMs", arXiv 2405.21060; one head, scalar decay):

    x   (P,)     input of a head at one frame              B   (N,)   how the input enters the state
    y   (P,)     output of a head at one frame             C   (N,)   how the state is read
    dt  > 0      step size, from the input                 A   < 0    decay rate of the head, a weight
    S   (P, N)   the state: all that is carried            D          skip weight of the head

    a_t = exp(dt_t A),   S_t = a_t S_(t-1) + (dt_t x_t) B_t^T,   y_t = S_t C_t + D x_t

`step` is this recurrence, frame by frame. `scan` gives the same numbers for a run of frames by matrix products:
with l = cumsum(dt A), frame t hears frame s <= t with weight exp(l_t - l_s), and the carried state with exp(l_t).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]


def step(x: Array, dt: Array, A: Array, B: Array, C: Array, D: Array, S: Array) -> tuple[Array, Array]:
    """One frame: x (H, P), dt (H,), A (H,), B (N,), C (N,), D (H,), S (H, P, N) -> y (H, P) and the new S."""
    decay = np.exp(dt * A)
    fed = (dt[:, None] * x)[:, :, None] * B
    S = decay[:, None, None] * S + fed
    return S @ C + D[:, None] * x, S


def scan(x: Array, dt: Array, A: Array, B: Array, C: Array, D: Array, S: Array) -> tuple[Array, Array]:
    """L frames: x (L, H, P), dt (L, H), A (H,), B and C (L, N), D (H,), S (H, P, N) -> y (L, H, P) and the new S."""
    length = len(x)
    log_decay = np.cumsum(dt * A, axis=0)  # (L, H)
    gap = log_decay[:, None] - log_decay[None, :]  # (L, L, H): from frame s to frame t
    causal = np.tril(np.ones((length, length), bool))[:, :, None]
    weight = np.exp(np.where(causal, gap, -np.inf)) * (C @ B.T)[:, :, None]  # masked before the exp: no overflow
    fed = dt[:, :, None] * x
    y = np.einsum("tsh,shp->thp", weight, fed)
    y += np.exp(log_decay)[:, :, None] * np.einsum("tn,hpn->thp", C, S)
    to_end = np.exp(log_decay[-1] - log_decay)
    S = np.exp(log_decay[-1])[:, None, None] * S + np.einsum("sh,shp,sn->hpn", to_end, fed, B)
    return y + D[:, None] * x, S
