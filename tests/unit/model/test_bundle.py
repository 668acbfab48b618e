"""A bundle is read as a whole or refused with the name of what is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from speech.errors import BadBundle
from speech.model.bundle import Bundle, Manifest, StateSpec, write_manifest


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "acoustic.onnx").write_bytes(b"weights")
    manifest = Manifest(
        schema_version=1,
        id="tiny-1",
        task="recognition",
        language="en-US",
        files={"acoustic.onnx": ""},
        states=(StateSpec("ssm_0", (2, 3)),),
        tokens=("<blank>", "a"),
        measured={"wer": {"value": 30.0, "command": "python -m models.asr.evaluate"}},
    )
    write_manifest(tmp_path, manifest)
    return tmp_path


def edit(folder: Path, **changes: object) -> None:
    path = folder / "manifest.json"
    values = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({k: v for k, v in values.items() if v != "remove"}))


def test_a_written_bundle_reads_back(folder: Path) -> None:
    bundle = Bundle.load(folder, task="recognition")
    assert bundle.manifest.states == (StateSpec("ssm_0", (2, 3), "float32"),)
    assert bundle.path("acoustic.onnx").read_bytes() == b"weights"


def test_an_altered_file_is_named_with_both_sums(folder: Path) -> None:
    (folder / "acoustic.onnx").write_bytes(b"Weights")
    with pytest.raises(BadBundle, match=r"acoustic\.onnx has been altered: sha256 is .*, the manifest says"):
        Bundle.load(folder)
    Bundle.load(folder, verify=False)


def test_a_missing_file_is_named(folder: Path) -> None:
    (folder / "acoustic.onnx").unlink()
    with pytest.raises(BadBundle, match=r"incomplete: 'acoustic\.onnx'"):
        Bundle.load(folder, verify=False)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"colour": "blue"}, r"unknown keys \['colour'\]"),
        ({"schema_version": 2}, "schema version 2, this code reads version 1"),
        ({"id": "remove"}, r"missing keys \['id'\]"),
        ({"sample_rate": "16000"}, r"manifest\.json\.sample_rate: expected int, got str '16000'"),
        ({"tokens": "abc"}, r"manifest\.json\.tokens: expected a list"),
        ({"states": [{"name": "s", "shape": [1], "size": 4}]}, r"states\[0\]: unknown keys \['size'\]"),
        ({"files": {"../x": "0"}}, "outside the bundle"),
    ],
)
def test_a_wrong_manifest_is_refused_with_the_key(folder: Path, changes: dict[str, object], message: str) -> None:
    edit(folder, **changes)
    with pytest.raises(BadBundle, match=message):
        Bundle.load(folder)


def test_a_folder_without_manifest_is_no_bundle(tmp_path: Path) -> None:
    with pytest.raises(BadBundle, match=r"it has no manifest\.json"):
        Bundle.load(tmp_path)


def test_a_manifest_that_is_not_json_is_refused(folder: Path) -> None:
    (folder / "manifest.json").write_text("{")
    with pytest.raises(BadBundle, match="cannot be read as JSON"):
        Bundle.load(folder)


def test_a_bundle_for_another_task_is_refused(folder: Path) -> None:
    with pytest.raises(BadBundle, match="for 'recognition', expected one for 'synthesis'"):
        Bundle.load(folder, task="synthesis")


def test_a_file_the_manifest_does_not_list_is_not_given_out(folder: Path) -> None:
    with pytest.raises(BadBundle, match=r"needs a file 'graph\.bin', the manifest lists \['acoustic\.onnx'\]"):
        Bundle.load(folder).path("graph.bin")
