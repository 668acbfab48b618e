"""The page in a real Chromium, against a stack of its own: real models, a recorded file for a microphone.

One stack and one browser serve all tests here. Each has a tab of its own, in which the page keeps all that it keeps;
what they share is the browser's cache of the page's files, as with somebody who has been here before.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import soundfile
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from local import browser, stack
from local.stack import Stack
from tests.contract.house import ROOT

PATIENCE_MS = 120_000.0  # for what takes a second or two on an idle machine
AUDIO = ROOT / "events" / "audio"
PROMPT = AUDIO / "telephone-prompt-16k.wav"
SENTENCE_S = 2.55  # its first sentence, which is what the microphone hears; then there is silence
SAID = json.loads((AUDIO / "answers.json").read_text())[PROMPT.name]["text"].partition(" please ")[0]
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--use-fake-ui-for-media-stream",
    "--use-fake-device-for-media-stream",
)  # fmt: skip
# What the loudspeaker is given.
SOUNDS = """() => {
  window.sounds = [];
  const start = AudioBufferSourceNode.prototype.start;
  AudioBufferSourceNode.prototype.start = function (when) {
    const samples = this.buffer.getChannelData(0);
    window.sounds.push([this.buffer.duration, this.buffer.sampleRate, Math.max(...samples.map(Math.abs))]);
    return start.call(this, when);
  };
}"""
expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="package")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The stack that serves the page."""
    started = stack.up(tmp_path_factory.mktemp("browser"), 0, {}, lambda note: None)
    yield started
    started.stop()


@pytest.fixture(scope="package")  # no longer: an event loop of its own runs in this thread as long as it lives
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """The system's Chromium; a machine without one fails and says what to install."""
    path = browser.find()
    if path is None:
        pytest.fail(browser.MISSING, pytrace=False)
    heard = tmp_path_factory.mktemp("microphone") / "sentence.wav"
    samples, rate = soundfile.read(PROMPT, dtype="int16")
    soundfile.write(heard, samples[: round(SENTENCE_S * rate)], rate)
    microphone = f"--use-file-for-fake-audio-capture={heard}%noloop"
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=path, args=[*FLAGS, microphone])


@pytest.fixture(scope="package")
def profile(chromium: Browser) -> Iterator[BrowserContext]:
    """A browser that has been here before."""
    with visitor(chromium) as context:
        yield context


@contextmanager
def visitor(chromium: Browser, **wishes: Any) -> Iterator[BrowserContext]:
    """A browser that has never been here, whose person has wishes of Playwright's `new_context`."""
    context = chromium.new_context(permissions=["microphone"], accept_downloads=True, **wishes)
    context.set_default_timeout(PATIENCE_MS)
    yield context
    context.close()


@pytest.fixture
def tab(profile: BrowserContext) -> Iterator[Page]:
    """An empty tab."""
    with watched(profile.new_page()) as page:
        yield page
    assert profile.cookies() == []  # nothing of a test is there for the next one


@contextmanager
def watched(page: Page) -> Iterator[Page]:
    """A tab, closed at the end; whatever its page throws or is forbidden meanwhile fails the test."""
    wrong = list[str]()
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda line: wrong.append(line.text) if "Content Security Policy" in line.text else None)
    yield page
    page.close()
    assert wrong == []


@pytest.fixture
def page(tab: Page, running: Stack) -> Page:
    """The page, opened by the address that `make run` prints."""
    return opened(tab, running)


def opened(tab: Page, running: Stack) -> Page:
    """The page in a tab, with its key."""
    tab.goto(running.page_url)
    expect(tab.get_by_role("button", name="Change key")).to_be_visible()
    return tab
