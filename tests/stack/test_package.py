"""The local packager makes what `sam build` makes, and the template keeps its meaning on the way."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from local import package, template
from local.state import ROOT


def test_the_same_files_make_the_same_zip() -> None:
    one = package.zipped({"b": b"2", "a": b"1"})
    assert one == package.zipped({"a": b"1", "b": b"2"})


def test_intrinsic_functions_are_written_out(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text("A: !Ref x\nB: !GetAtt a.b.c\nC: !If [d, !Sub '${e}', 2012-10-17]\n")
    assert template.read(tmp_path / "t.yaml") == {
        "A": {"Ref": "x"},
        "B": {"Fn::GetAtt": ["a", "b.c"]},
        "C": {"Fn::If": ["d", {"Fn::Sub": "${e}"}, "2012-10-17"]},
    }


def test_only_what_ships_is_packed() -> None:
    packed = package.layer_contents(package.ROOT / "layers" / "speech")
    assert "python/speech/errors.py" in packed
    assert not [name for name in packed if "__pycache__" in name]
    assert package.layer_contents(package.ROOT / "layers" / "runtime") == package.PLACEHOLDER


def test_references_to_number_parameters_become_numbers() -> None:
    source = {
        "Parameters": {"N": {"Type": "Number", "Default": 5}, "S": {"Type": "String"}},
        "Resources": [{"Ref": "N"}],
    }
    assert template.with_numbers(source, {})["Resources"] == [5]
    assert template.with_numbers(source, {"N": "7"})["Resources"] == [7]
    for kept in ({"Ref": "S"}, {"Variables": {"COUNT": {"Ref": "N"}}}):
        assert template.with_numbers({**source, "Resources": kept}, {})["Resources"] == kept


@pytest.mark.parametrize(("layer", "target"), [("speech", "build-SpeechLayer"), ("cloud", "build-CloudLayer")])
def test_a_layer_holds_what_its_makefile_builds(layer: str, target: str, tmp_path: Path) -> None:
    folder = ROOT / "layers" / layer
    command = ["make", "-s", "-C", str(folder), target, f"ARTIFACTS_DIR={tmp_path}"]
    subprocess.run(command, check=True, capture_output=True)
    built = {str(path.relative_to(tmp_path)): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert package.layer_contents(folder) == built
