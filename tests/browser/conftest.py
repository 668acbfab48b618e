"""The page in a real Chromium, against a stack of its own: real models, a recorded file for a microphone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from local import browser, stack
from local.stack import Stack
from tests.contract.house import ROOT

PATIENCE_MS = 120_000.0  # for what takes a second or two on an idle machine
MICROPHONE = ROOT / "events" / "audio" / "telephone-prompt-16k.wav"
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--use-fake-ui-for-media-stream",
    "--use-fake-device-for-media-stream",
    f"--use-file-for-fake-audio-capture={MICROPHONE}%noloop",
)  # fmt: skip
expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The stack that serves the page."""
    started = stack.up(tmp_path_factory.mktemp("browser"), 0, {}, lambda note: None)
    yield started
    started.stop()


@pytest.fixture(scope="module")  # no longer: an event loop of its own runs in this thread as long as it lives
def chromium() -> Iterator[Browser]:
    """The system's Chromium; a machine without one fails and says what to install."""
    path = browser.find()
    if path is None:
        pytest.fail(browser.MISSING, pytrace=False)
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=path, args=FLAGS)


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    """A browser that has never been here."""
    fresh = chromium.new_context(permissions=["microphone"], accept_downloads=True)
    fresh.set_default_timeout(PATIENCE_MS)
    yield fresh
    fresh.close()


@pytest.fixture
def tab(context: BrowserContext) -> Iterator[Page]:
    """An empty tab; whatever a page in it throws or is forbidden fails the test."""
    page, wrong = context.new_page(), list[str]()
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda line: wrong.append(line.text) if "Content Security Policy" in line.text else None)
    yield page
    assert wrong == []


@pytest.fixture
def page(tab: Page, running: Stack) -> Page:
    """The page, opened by the address that `make run` prints."""
    tab.goto(running.page_url)
    expect(tab.get_by_role("button", name="Change key")).to_be_visible()
    return tab
