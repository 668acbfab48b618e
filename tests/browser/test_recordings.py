"""Recordings: from a file to a transcript that can be clicked through and taken away."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from pathlib import Path

import pytest
import soundfile
from playwright.sync_api import Page, expect

from tests.contract.house import ROOT

AUDIO = ROOT / "events" / "audio"
DIALOGUE = AUDIO / "dialogue-stereo.mp3"
DROP = """([name, type, data]) => {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  const carried = new DataTransfer();
  carried.items.add(new File([bytes], name, { type }));
  const zone = document.getElementById('drop');
  for (const kind of ['dragenter', 'dragover', 'drop']) {
    zone.dispatchEvent(new DragEvent(kind, { dataTransfer: carried, bubbles: true, cancelable: true }));
  }
}"""


@pytest.fixture
def beginning(tmp_path: Path) -> Path:
    """What both say first."""
    samples, rate = soundfile.read(DIALOGUE)
    path = tmp_path / DIALOGUE.name
    soundfile.write(path, samples[: round(8.1 * rate)], rate, format="MP3")
    return path


def test_a_dropped_file_becomes_words_to_click_and_files_to_take_away(
    page: Page, beginning: Path, tmp_path: Path
) -> None:
    page.evaluate(DROP, [beginning.name, "audio/mpeg", b64encode(beginning.read_bytes()).decode()])
    expect(page.locator("#progress-part")).to_be_visible()
    transcript = page.get_by_role("group", name="Transcript;")
    expect(transcript).to_be_visible()
    expect(page.locator("#progress-part")).to_be_hidden()
    expect(page.locator("#took")).to_contain_text("0:08.1 of audio")
    expect(transcript.get_by_text("Channel 2").first).to_be_visible()
    expect(transcript.locator("p").first).to_contain_text("Thank you for calling")

    place = page.get_by_role("slider", name="Place in the recording")
    expect(page.get_by_role("button", name="Play")).to_be_enabled()
    word = transcript.get_by_role("button", name="calling")
    word.click()
    expect(word).to_have_attribute("aria-current", "true")
    at_s = page.evaluate("() => document.getElementById('audio').currentTime")
    assert 0.5 < at_s < 2
    expect(place).to_have_attribute("aria-valuetext", re.compile(r"^0:0[01]\.\d of 0:08\.\d$"))

    saved = {}
    for name in ("TXT", "SRT", "VTT", "JSON"):
        with page.expect_download() as download:
            page.get_by_role("button", name=name, exact=True).click()
        assert download.value.suggested_filename == f"dialogue-stereo.{name.lower()}"
        download.value.save_as(tmp_path / name)
        saved[name] = (tmp_path / name).read_text()
    assert saved["VTT"].startswith("WEBVTT")
    assert saved["SRT"].startswith("1\n00:00:0")
    assert "Thank you" in saved["TXT"]
    assert json.loads(saved["JSON"])["status"] == "COMPLETED"


# Words that sound, one after the other: each for a moment only, so that asking now and then would miss them.
WATCH = """() => {
  window.sounded = [];
  new MutationObserver((changes) => {
    for (const { target } of changes) if (target.hasAttribute('aria-current')) window.sounded.push(target.textContent);
  }).observe(document.getElementById('transcript'), { subtree: true, attributeFilter: ['aria-current'] });
}"""


def test_playing_marks_the_words_that_sound(page: Page) -> None:
    page.get_by_label("Choose a recording").set_input_files(AUDIO / "telephone-prompt-16k.wav")
    words = page.get_by_role("group", name="Transcript;").get_by_role("button")
    expect(words.first).to_be_visible()
    page.evaluate(WATCH)
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.wait_for_function("() => window.sounded.length >= 4")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    said, sounded = words.all_text_contents(), page.evaluate("() => window.sounded")
    places = [said.index(word) for word in dict.fromkeys(sounded)]
    assert places == sorted(places)


def test_a_file_that_is_no_recording_is_refused_in_words_and_another_may_follow(page: Page) -> None:
    chooser = page.get_by_label("Choose a recording")
    chooser.set_input_files({"name": "notes.wav", "mimeType": "audio/wav", "buffer": b"text, no sound. " * 100})
    expect(page.locator("#recordings-error")).to_contain_text("cannot be transcribed")
    expect(page.locator("#recordings-error")).to_contain_text("not audio")
    expect(page.locator("#progress-part")).to_be_hidden()
    chooser.set_input_files({"name": "empty.wav", "mimeType": "audio/wav", "buffer": b""})
    expect(page.locator("#recordings-error")).to_have_text("The file is empty.")
    chooser.set_input_files(AUDIO / "silence.wav")
    expect(page.get_by_text("No speech was found.")).to_be_visible()
    expect(page.locator("#recordings-error")).to_be_hidden()


def test_a_newer_file_takes_the_place_of_one_that_is_under_way(page: Page) -> None:
    chooser = page.get_by_label("Choose a recording")
    chooser.set_input_files(DIALOGUE)
    expect(page.locator("#progress-part")).to_be_visible()
    chooser.set_input_files(AUDIO / "telephone-prompt-16k.wav")
    expect(page.locator("#file-name")).to_have_text("telephone-prompt-16k.wav")
    expect(page.get_by_role("group", name="Transcript;")).to_contain_text("The number you have")
    expect(page.locator("#recordings-error")).to_be_hidden()
