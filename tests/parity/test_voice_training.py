"""From a corpus to checkpoints that go on: the store holds what the teacher said, batches point at its symbols."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch
from speech.tts import symbols

from models.tts import acoustic, acoustic_train, vocoder_train
from models.tts.acoustic import Acoustic, AcousticConfig
from models.tts.acoustic_batches import collate, sentence
from models.tts.corpus import Store, build
from models.tts.mel import log_mel
from models.tts.predict import predicted
from models.tts.training import Training
from models.tts.vocoder import Vocoder, VocoderConfig

LINES = {"a": "həlˈO tə jˈu wˈɜɹld, ænd ɡˈʊd dˈA.", "b": "stˈɑp!", "c": "ɪz ɪt hˈɪɹ? jˈɛs.", "d": "nˈO."}
SMALL = {"d": 16, "heads": 2, "head_dim": 8, "state": 4, "ffn": 24, "encoder": 1, "prosody": 1, "decoder": 1}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of hums: durations of 2 to 4 units, a pitch of 200 Hz in every second symbol."""
    rng, root = np.random.default_rng(1), tmp_path_factory.mktemp("corpus")
    rows, durations, f0, offsets = [], [], [], [(0, 0)]
    for name, line in LINES.items():
        units = rng.integers(2, 5, len(line) + 2)
        units[0] = 12
        pitch = np.repeat(np.where(np.arange(len(units)) % 2, 200.0, 5.0), 2 * units)
        wave = 0.3 * np.sin(2 * np.pi * np.cumsum(np.repeat(pitch, 300)) / 24000)
        soundfile.write(root / f"{name}.ogg", wave, 24000, format="OGG", subtype="OPUS")
        text = "well, uh, no" if name == "d" else "words"
        rows.append("\t".join([name, f"{len(wave) / 24000:.3f}", "af_heart:0.60+am_adam:0.40", "1.25", text, line]))
        durations.append(units)
        f0.append(pitch)
        offsets.append((offsets[-1][0] + len(units), offsets[-1][1] + len(pitch)))
    (root / "hums.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    np.savez(
        root / "hums.npz", ids=np.array(list(LINES)), offsets=np.array(offsets),
        dur=np.concatenate(durations).astype(np.int16), f0=np.concatenate(f0).astype(np.float16),
        energy=np.zeros(offsets[-1][1], np.float16),
    )  # fmt: skip
    build(root / "hums.tsv", root / "hums.npz", root, root / "store" / "hums", hold_out=3)
    return root / "store"


def test_the_store_holds_the_corpus_without_hesitations(folder: Path) -> None:
    store = Store(folder / "hums")
    assert len(store) == 3
    assert store.held_out.tolist() == [False, False, True]
    assert store.training() == [0, 1]
    assert store.tokens[store.of_tokens(1)].tolist() == symbols.encode(LINES["b"])
    audio = np.asarray(store.samples[store.frame_at[2] * 300 :], np.float32) / 32768
    np.testing.assert_allclose(
        np.exp(store.mel[store.of_frames(2)].astype(np.float32)), np.exp(log_mel(audio)), atol=2e-4
    )
    assert np.flatnonzero(store.voices[0]).size == 2


def test_batches_point_at_the_symbol_that_is_spoken(folder: Path) -> None:
    store, rng = Store(folder / "hums"), np.random.default_rng(0)
    drawn = [sentence(store, i, rng) for i in range(3) for _ in range(4)]
    assert {len(s.cuts) for s in drawn[:4]} == {0, 1}  # read as one clause, or cut behind the comma
    batch = collate(drawn)
    for row, s in enumerate(drawn):
        count = int(s.units.sum())
        spoken = batch.tokens.flatten()[batch.units[row, :count]].numpy()
        np.testing.assert_array_equal(spoken, np.repeat(s.tokens, s.units))
        assert int(batch.heard[row].sum()) == count
        frames = acoustic.FRAMES * count
        np.testing.assert_array_equal(batch.mel[row, :frames].numpy(), s.mel)
    first = batch.tokens[0][batch.known[0]]
    assert (torch.gather(batch.tokens, 1, batch.reverse)[0, 0] == first[-1]).item()
    np.testing.assert_allclose(np.exp(batch.durations[0, 1].item()), drawn[0].units[1] * 1.25, rtol=1e-5)


def arguments(folder: Path, run: Path) -> argparse.Namespace:
    return argparse.Namespace(
        start=None, store=folder, run=run, sources=["hums=1"], minutes=60, lr=3e-3, threads=1, bf16=False, seed=1
    )


def test_acoustic_training_learns_and_goes_on_where_it_stopped(folder: Path, tmp_path: Path) -> None:
    torch.manual_seed(1)
    config = AcousticConfig(**SMALL).as_dict()
    args = arguments(folder, tmp_path)
    run = Training(args, lambda c: Acoustic(AcousticConfig(**c)), config)
    run.elapsed = 300.0  # past the warm-up
    store, rng = Store(folder / "hums"), np.random.default_rng(0)
    batch = collate([sentence(store, i, rng) for i in range(3)])
    seen = []
    for _ in range(30):
        losses = acoustic_train.losses(run.model, batch, bf16=False)  # type: ignore[arg-type]
        seen.append(losses["loss"].item())
        run.step(losses)
    assert seen[-1] < 0.6 * seen[0]
    run.save()
    again = Training(args, lambda c: Acoustic(AcousticConfig(**c)), {})
    assert (again.steps, again.elapsed, again.config) == (30, 300.0, config)
    for one, other in zip(run.model.parameters(), again.model.parameters(), strict=True):
        assert torch.equal(one, other)
    after = acoustic_train.losses(again.model, batch, bf16=False)["loss"]  # type: ignore[arg-type]
    assert after.item() == pytest.approx(acoustic_train.losses(run.model, batch, bf16=False)["loss"].item(), rel=1e-5)  # type: ignore[arg-type]


def test_vocoder_learns_the_waveform_of_a_hum(folder: Path, tmp_path: Path) -> None:
    torch.manual_seed(1)
    run = Training(
        arguments(folder, tmp_path), lambda c: Vocoder(VocoderConfig(**c)), {"d": 24, "blocks": 1, "ffn": 32, "taps": 3}
    )
    run.elapsed = 300.0
    crops = vocoder_train.Crops(folder, ["hums=1"], 40, 0.0, np.random.default_rng(0))
    seen = []
    for _ in range(40):
        losses = vocoder_train.losses(run.model, crops.batch(2), bf16=False)  # type: ignore[arg-type]
        seen.append(losses["loss"].item())
        run.step(losses)
    assert np.mean(seen[-5:]) < 0.7 * np.mean(seen[:5])


def test_predicted_frames_lie_in_step_with_the_sentence(folder: Path) -> None:
    torch.manual_seed(2)
    model = Acoustic(AcousticConfig(**SMALL)).eval()
    store, rng = Store(folder / "hums"), np.random.default_rng(0)
    sentences = [sentence(store, i, rng) for i in range(3)]
    assert [m.shape for m in predicted(model, sentences)] == [s.mel.shape for s in sentences]


def test_a_run_may_begin_with_the_weights_of_another(folder: Path, tmp_path: Path) -> None:
    torch.manual_seed(2)
    config = AcousticConfig(**SMALL).as_dict()
    first = Training(arguments(folder, tmp_path / "first"), lambda c: Acoustic(AcousticConfig(**c)), config)
    first.save()
    args = arguments(folder, tmp_path / "second")
    args.start = first.path
    second = Training(args, lambda c: Acoustic(AcousticConfig(**c)), config)
    assert second.elapsed == 0.0
    for name, weight in first.average.items():
        torch.testing.assert_close(second.model.state_dict()[name], weight)
        torch.testing.assert_close(second.average[name], weight)
