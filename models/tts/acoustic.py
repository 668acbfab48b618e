"""The acoustic model: phonemes to durations, pitch, energy and log-mel frames, by state-space (SSD) blocks.

Shapes: B clauses or sentences, L symbols, U units of 25 ms (two mel frames each), d model width, V voice features.
The encoder reads a clause in both directions and gives each symbol a vector and a duration. The decoder is causal over
units and carries its state from clause to clause: its lower blocks give pitch and energy, its upper ones, told these,
the log-mel frames. In training the upper blocks hear the teacher's pitch and energy, in use the model's own.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F
from speech.tts import symbols
from torch import Tensor, nn

from models.asr.model import Mixer, RMSNorm
from models.tts.mel import MELS

FRAMES = 2  # mel frames of a unit
PLACES = 4  # what a unit knows about its place within its symbol
MEL_MEAN, MEL_SCALE = -7.0, 2.5
ENERGY_MEAN, ENERGY_SCALE = 2.4, 5.9
PITCH_HZ, PITCH_SCALE = 200.0, 0.3


@dataclass(frozen=True)
class AcousticConfig:
    d: int = 256
    heads: int = 4
    head_dim: int = 64
    state: int = 16
    conv: int = 4
    ffn: int = 512
    encoder: int = 3  # blocks
    prosody: int = 2
    decoder: int = 4
    voices: int = 28
    voice: int = 64
    chunk: int = 32  # units solved at once in training

    def as_dict(self) -> dict[str, int]:
        return asdict(self)


class FeedForward(nn.Module):
    def __init__(self, c: AcousticConfig) -> None:
        super().__init__()
        self.norm = RMSNorm(c.d)
        self.up, self.down = nn.Linear(c.d, c.ffn), nn.Linear(c.ffn, c.d)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.down(F.relu(self.up(self.norm(x))).square())


class TwoWay(nn.Module):
    """An encoder block: one mixer forwards, one backwards, then the feed-forward part."""

    def __init__(self, c: AcousticConfig) -> None:
        super().__init__()
        self.c = c
        self.norm = RMSNorm(c.d)
        self.ahead, self.back = Mixer(c), Mixer(c)
        self.ffn = FeedForward(c)

    def forward(self, x: Tensor, reverse: Tensor) -> Tensor:
        """x (B, L, d); reverse (B, L): the order of each clause from its end, padding last."""
        y = self.norm(x)
        index = reverse[..., None].expand_as(y)
        back = run(self.back, torch.gather(y, 1, index))
        return self.ffn(x + run(self.ahead, y) + torch.gather(back, 1, index))


class Causal(nn.Module):
    """A decoder block."""

    def __init__(self, c: AcousticConfig) -> None:
        super().__init__()
        self.norm, self.mixer, self.ffn = RMSNorm(c.d), Mixer(c), FeedForward(c)

    def forward(self, x: Tensor, tail: Tensor, S: Tensor, chunk: int) -> tuple[Tensor, Tensor, Tensor]:
        y, tail, S = self.mixer(self.norm(x), tail, S, chunk)
        return self.ffn(x + y), tail, S


def run(mixer: Mixer, x: Tensor) -> Tensor:
    """A mixer over a whole clause, from an empty state."""
    c = mixer.c
    tail, S = torch.zeros(len(x), c.conv - 1, mixer.mixed), torch.zeros(len(x), c.heads, c.head_dim, c.state)
    return mixer(x, tail, S, c.chunk)[0]


class Encoder(nn.Module):
    def __init__(self, c: AcousticConfig) -> None:
        super().__init__()
        self.embed = nn.Embedding(symbols.COUNT, c.d)
        self.voice = nn.Linear(c.voice, c.d)
        self.blocks = nn.ModuleList(TwoWay(c) for _ in range(c.encoder))
        self.norm, self.duration = RMSNorm(c.d), nn.Linear(c.d, 1)

    def forward(self, tokens: Tensor, voice: Tensor, reverse: Tensor) -> tuple[Tensor, Tensor]:
        """tokens (B, L), voice (B, V) -> vectors (B, L, d) and the log of durations in units at speed 1 (B, L)."""
        x = self.embed(tokens) + self.voice(voice)[:, None]
        for block in self.blocks:
            x = block(x, reverse)
        x = self.norm(x)
        return x, self.duration(x)[..., 0].float()


class Decoder(nn.Module):
    def __init__(self, c: AcousticConfig) -> None:
        super().__init__()
        self.c = c
        self.place = nn.Linear(PLACES, c.d)
        self.voice = nn.Linear(c.voice, c.d)
        self.prosody_blocks = nn.ModuleList(Causal(c) for _ in range(c.prosody))
        self.prosody_norm, self.prosody = RMSNorm(c.d), nn.Linear(c.d, 3 * FRAMES)
        self.inject = nn.Linear(3 * FRAMES, c.d)
        self.blocks = nn.ModuleList(Causal(c) for _ in range(c.decoder))
        self.norm, self.mel = RMSNorm(c.d), nn.Linear(c.d, FRAMES * MELS)

    def state_shapes(self) -> dict[str, tuple[int, ...]]:
        """Name and shape (without the batch axis) of each carried state, in the order `forward` takes them."""
        c, shapes = self.c, {}
        for i in range(c.prosody + c.decoder):
            shapes[f"conv_{i}"] = (c.conv - 1, c.heads * c.head_dim + 2 * c.state)
            shapes[f"ssm_{i}"] = (c.heads, c.head_dim, c.state)
        return shapes

    def initial_state(self, batch: int) -> list[Tensor]:
        return [torch.zeros(batch, *shape) for shape in self.state_shapes().values()]

    def forward(
        self, units: Tensor, place: Tensor, voice: Tensor, prosody: Tensor | None = None,
        state: list[Tensor] | None = None,
    ) -> tuple[Tensor, Tensor, list[Tensor]]:  # fmt: skip
        """units (B, U, d): the vector of each unit's symbol; place (B, U, 4); prosody (B, U, 2, 3) as told, or None.

        Returns mel (B, 2 U, 80), normalised, the predicted prosody (B, U, 2, 3), and the new state.
        """
        state = self.initial_state(len(units)) if state is None else state
        after: list[Tensor] = []
        x = units + self.place(place) + self.voice(voice)[:, None]
        for i, block in enumerate(self.prosody_blocks):
            x, *kept = block(x, state[2 * i], state[2 * i + 1], self.c.chunk)
            after += kept
        predicted = self.prosody(self.prosody_norm(x)).float().unflatten(-1, (FRAMES, 3))
        x = x + self.inject((voiced_only(predicted) if prosody is None else prosody).flatten(2))
        for i, block in enumerate(self.blocks, len(self.prosody_blocks)):
            x, *kept = block(x, state[2 * i], state[2 * i + 1], self.c.chunk)
            after += kept
        mel = self.mel(self.norm(x)).float().unflatten(-1, (FRAMES, MELS)).flatten(1, 2)
        return mel, predicted, after


def voiced_only(predicted: Tensor) -> Tensor:
    """What the upper blocks are told: pitch (0 where unvoiced), voice (0 or 1) and energy, each normalised."""
    pitch, voiced, energy = predicted.unbind(-1)
    voiced = (voiced > 0).to(pitch.dtype)
    return torch.stack([pitch * voiced, voiced, energy], dim=-1)


class Acoustic(nn.Module):
    def __init__(self, c: AcousticConfig) -> None:
        super().__init__()
        self.c = c
        self.voices = nn.Parameter(torch.randn(c.voices, c.voice) * 0.5)
        self.encoder, self.decoder = Encoder(c), Decoder(c)
