"""A function's `app.py`, imported afresh, as Lambda does at a cold start."""

from __future__ import annotations

import importlib.util
from types import ModuleType

from tests.contract.house import ROOT


def start(name: str) -> ModuleType:
    """functions/<name>/app.py as a module of its own; whatever it reads from the environment must be there."""
    spec = importlib.util.spec_from_file_location(f"app_of_{name}", ROOT / "functions" / name / "app.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
