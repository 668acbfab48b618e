"""The decoding graph: pronunciations and language model compiled into one automaton over phones, read from a file.

States are prefix-tree nodes; one tree hangs at the root of each language-model history. A state is the number of its
first arc, its arcs stand side by side, and equal states are stored once. An arc with phone 0 takes no time; only roots
have such arcs, as their first: one to the root of the shorter history (back-off; the shortest has none), then one that
is marked with the word END and leads to the root of a new sentence, at the cost of ending this one. Every
other arc consumes a phone; the last phone of a word carries the word and leads to a root. The blank and the repetition
of CTC are not in the graph: the decoder adds them.

File: MAGIC, the header's length (uint32, little-endian), a JSON header, then the arrays, each aligned to 64 bytes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from speech.errors import BadBundle

MAGIC = b"UTGRAPH1"
COST_PER_NAT = 256  # costs are whole numbers of 1/256 nat, so that adding them up is exact
NOWHERE = -1
NO_WORD, END = 0, 1  # entries of `words` that are no words: "" and the end of a sentence
ALIGNMENT = 64
ARRAYS = {"phone": "uint8", "word": "uint16", "target": "int32", "cost": "int16", "arcs": "uint8"}


class Column(Protocol):
    """One value for each arc, read by arrays of arc numbers."""

    def __len__(self) -> int:
        """Number of arcs."""
        ...

    def __getitem__(self, at: npt.NDArray[np.int64], /) -> npt.NDArray[Any]:
        """The values of these arcs."""
        ...


class Automaton(Protocol):
    """What the search walks: a `Graph`, or one with a stream's phrases beside it (`speech.asr.overlay`)."""

    @property
    def phone(self) -> Column:
        """As in `Graph`."""
        ...

    @property
    def word(self) -> Column:
        """As in `Graph`."""
        ...

    @property
    def target(self) -> Column:
        """As in `Graph`."""
        ...

    @property
    def cost(self) -> Column:
        """As in `Graph`."""
        ...

    @property
    def arcs(self) -> Column:
        """As in `Graph`."""
        ...

    @property
    def start(self) -> int:
        """As in `Graph`."""
        ...

    @property
    def words(self) -> tuple[str, ...]:
        """As in `Graph`."""
        ...

    @property
    def phones(self) -> tuple[str, ...]:
        """As in `Graph`."""
        ...

    @property
    def entrance(self) -> int:
        """The root of the phrases, NOWHERE if there are none."""
        ...


@dataclass(frozen=True)
class Graph:
    """Shapes: (number of arcs,) each."""

    phone: npt.NDArray[np.uint8]  # consumed; 0: none
    word: npt.NDArray[np.uint16]  # completed; 0: none
    target: npt.NDArray[np.int32]  # state that the arc leads to
    cost: npt.NDArray[np.int16]  # -log probability, 1/256 nat; language-model costs come as early as possible
    arcs: npt.NDArray[np.uint8]  # number of arcs of the state that begins here; 0 where none does
    start: int  # the root at the start of a sentence
    words: tuple[str, ...]
    phones: tuple[str, ...]  # the acoustic model's outputs, the blank first
    entrance: ClassVar[int] = NOWHERE

    @classmethod
    def load(cls, path: str | Path) -> Graph:
        """Maps a graph file. Raises BadBundle when it is no graph file or cut short."""
        data = np.memmap(path, np.uint8, "r")
        if data[: len(MAGIC)].tobytes() != MAGIC:
            raise BadBundle(f"{path}: not a decoding graph: expected the file to begin with {MAGIC.decode()}")
        first = len(MAGIC) + 4
        length = int(data[len(MAGIC) : first].view("<u4")[0])
        header = json.loads(data[first : first + length].tobytes())
        offset, expected = _aligned(first + length), header["arcs"]
        found: dict[str, npt.NDArray[Any]] = {}
        for name, kind in ARRAYS.items():
            size = expected * np.dtype(kind).itemsize
            if offset + size > len(data):
                raise BadBundle(f"{path}: cut short: array {name!r} should end at byte {offset + size} of {len(data)}")
            found[name] = np.asarray(data[offset : offset + size]).view(np.dtype(kind).newbyteorder("<"))
            offset = _aligned(offset + size)
        return cls(start=header["start"], words=tuple(header["words"]), phones=tuple(header["phones"]), **found)

    def save(self, path: str | Path) -> None:
        """Writes a file for `load`."""
        names = {"start": self.start, "arcs": len(self.phone), "words": self.words, "phones": self.phones}
        header = json.dumps(names, ensure_ascii=False, separators=(",", ":")).encode()
        with Path(path).open("wb") as file:
            file.write(MAGIC + len(header).to_bytes(4, "little") + header)
            for name, kind in ARRAYS.items():
                file.write(bytes(_aligned(file.tell()) - file.tell()))
                file.write(getattr(self, name).astype(np.dtype(kind).newbyteorder("<")).tobytes())


def _aligned(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT
