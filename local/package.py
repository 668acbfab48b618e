"""Zip functions and layers as `sam build` would, and point the template at the zips.

Third-party wheels and model bundles are left out: the emulator runs functions in an interpreter that has the wheels,
and they read the bundles where they lie (parameter ModelsDir). Everything of ours is packed and unpacked for real.
"""

from __future__ import annotations

import copy
import hashlib
import io
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from local.state import ROOT, LocalError
from local.template import Template, resources

Put = Callable[[str, bytes], str]  # (key, zip) -> s3:// URI
SKIPPED = ("__pycache__", ".pyc", ".mypy_cache")
PLACEHOLDER = {"python/README.txt": b"Empty here: the interpreter that runs the functions has these files already.\n"}


def point_at_zips(template: Template, put: Put) -> Template:
    """A copy of the template whose functions and layers come from zips handed to `put`."""
    packed = copy.deepcopy(template)
    for kind, field, contents in (
        ("AWS::Serverless::LayerVersion", "ContentUri", layer_contents),
        ("AWS::Serverless::Function", "CodeUri", function_contents),
    ):
        for name, properties in resources(packed, kind).items():
            data = zipped(contents(ROOT / properties[field]))
            properties[field] = put(f"{name}/{hashlib.sha256(data).hexdigest()[:16]}.zip", data)
    return packed


def function_contents(folder: Path) -> dict[str, bytes]:
    """Archive path -> bytes of a function: its own folder, flat."""
    if not (folder / "app.py").is_file():
        raise LocalError(f"the template names {folder.relative_to(ROOT)}, which has no app.py")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files(folder)}


def layer_contents(folder: Path) -> dict[str, bytes]:
    """Archive path -> bytes of a layer: its `python/` tree when it holds code of ours, else a placeholder."""
    code = folder / "python"
    return {str(path.relative_to(folder)): path.read_bytes() for path in files(code)} if code.is_dir() else PLACEHOLDER


def files(folder: Path) -> Iterator[Path]:
    """Every file below `folder` that ships, in a fixed order."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not any(part.endswith(SKIPPED) for part in path.parts):
            yield path


def zipped(contents: dict[str, bytes]) -> bytes:
    """A zip that depends on names and bytes alone: the same code gives the same key."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(contents.items()):
            entry = zipfile.ZipInfo(name)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return buffer.getvalue()
