"""A model bundle: a folder with manifest.json and the files it names, each checked against its sha256."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from speech.errors import BadBundle
from speech.model.config import read_config

SCHEMA_VERSION = 1
MANIFEST = "manifest.json"
_READ_BYTES = 1 << 20


@dataclass(frozen=True)
class StateSpec:
    """One carried state of a streaming graph: input `name`, output `<name>_out`, batch axis in front."""

    name: str
    shape: tuple[int, ...]  # without the batch axis
    dtype: str = "float32"


@dataclass(frozen=True)
class Manifest:
    """What a bundle says about itself. Unknown keys are refused: a manifest is read as a whole or not at all."""

    schema_version: int
    id: str  # stamped into every snapshot; changes whenever the weights or the graph do
    task: str  # "recognition", "text", "synthesis"
    language: str  # BCP 47, as "en-US"
    files: dict[str, str]  # name in the folder -> sha256, hexadecimal
    licences: tuple[str, ...] = ()
    training_data: tuple[str, ...] = ()
    measured: dict[str, object] = field(default_factory=dict)  # name -> value and the command that measured it
    sample_rate: int = 16000  # Hz
    frame_ms: int = 40  # one output frame
    hop_ms: int = 10  # one input frame
    look_ahead_ms: int = 0  # output delay: delay_frames x frame_ms
    delay_frames: int = 0  # output frame j is about label frame j - delay_frames
    chunk_ms: int = 160  # audio of one live step
    state_rounding: str = "none"  # "float16": states are rounded after every step, and saved in half the space
    states: tuple[StateSpec, ...] = ()
    tokens: tuple[str, ...] = ()  # output symbols; number 0 is the blank
    settings: dict[str, object] = field(default_factory=dict)  # of the task, read by the code of the task


@dataclass(frozen=True)
class Bundle:
    """A folder whose manifest has been read and whose files are there."""

    folder: Path
    manifest: Manifest

    @classmethod
    def load(cls, folder: str | Path, task: str | None = None, verify: bool = True) -> Bundle:
        """Read the manifest and check the files. Raises BadBundle naming what is wrong.

        `verify=False` checks only that the files exist: for a copy that was verified when it was made.
        """
        folder = Path(folder)
        manifest = _read_manifest(folder / MANIFEST)
        if task is not None and manifest.task != task:
            raise BadBundle(f"{folder} is a bundle for {manifest.task!r}, expected one for {task!r}")
        for name, expected in manifest.files.items():
            _check_file(folder, name, expected if verify else None)
        return cls(folder, manifest)

    @property
    def stamp(self) -> str:
        """The id with a digest of all files: what a snapshot must match, so that retrained weights refuse old ones."""
        listing = json.dumps(sorted(self.manifest.files.items())).encode()
        return f"{self.manifest.id}:{hashlib.sha256(listing).hexdigest()[:12]}"

    def path(self, name: str) -> Path:
        """The path of a file of the bundle. Raises BadBundle if the manifest does not list it."""
        if name not in self.manifest.files:
            raise BadBundle(f"{self.folder}: needs a file {name!r}, the manifest lists {sorted(self.manifest.files)}")
        return self.folder / name


def write_manifest(folder: str | Path, manifest: Manifest) -> Manifest:
    """Write manifest.json with the sha256 of each name in `manifest.files`, and return it as written."""
    folder = Path(folder)
    stamped = replace(manifest, files={name: _sha256(folder / name) for name in manifest.files})
    text = json.dumps(asdict(stamped), indent=1, ensure_ascii=False)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")
    return stamped


def _read_manifest(path: Path) -> Manifest:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadBundle(f"{path.parent} is not a model bundle: it has no {MANIFEST}") from None
    except (OSError, ValueError) as error:
        raise BadBundle(f"{path} cannot be read as JSON: {error}") from error
    version = values.get("schema_version") if isinstance(values, dict) else None
    if version != SCHEMA_VERSION:
        raise BadBundle(f"{path} has schema version {version!r}, this code reads version {SCHEMA_VERSION}")
    try:
        return read_config(Manifest, values, MANIFEST)
    except ValueError as error:
        raise BadBundle(f"{path.parent}: {error}") from error


def _check_file(folder: Path, name: str, expected: str | None) -> None:
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise BadBundle(f"{folder}: the manifest names a file outside the bundle: {name!r}")
    path = folder / name
    if not path.is_file():
        raise BadBundle(f"{folder} is incomplete: {name!r} of the manifest is missing")
    if expected is not None and (actual := _sha256(path)) != expected:
        raise BadBundle(f"{path} has been altered: sha256 is {actual}, the manifest says {expected}")


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while data := file.read(_READ_BYTES):
            digest.update(data)
    return digest.hexdigest()
