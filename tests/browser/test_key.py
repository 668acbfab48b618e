"""The API key: taken from the address or the form, kept for the tab, and refused in words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from local.stack import Stack
from tests.browser.conftest import visitor

STORED = "() => [Object.values(sessionStorage), Object.values(localStorage), document.cookie]"


@pytest.fixture
def profile(chromium: Browser) -> Iterator[BrowserContext]:
    """Nobody has been here with this browser."""
    with visitor(chromium) as context:
        yield context


def test_the_address_of_make_run_opens_the_page_and_keeps_no_key(page: Page, running: Stack) -> None:
    assert page.url == running.outputs["ConsoleUrl"]
    assert page.evaluate(STORED) == [[running.api_key], [], ""]
    expect(page.get_by_role("combobox", name="Voice")).to_have_value("heart")
    page.reload()
    expect(page.get_by_role("button", name="Change key")).to_be_visible()


def test_without_a_key_the_page_asks_for_one_and_says_what_is_wrong_with_another(tab: Page, running: Stack) -> None:
    tab.goto(running.outputs["ConsoleUrl"])
    tab.get_by_role("textbox", name="API key").fill("sk-wrong")
    tab.get_by_role("button", name="Use key").click()
    expect(tab.get_by_role("alert")).to_have_text(
        "The API does not know this key. Check it, or ask whoever deployed this."
    )
    tab.get_by_role("textbox", name="API key").fill(f" {running.api_key} ")
    tab.get_by_role("button", name="Use key").click()
    expect(tab.get_by_role("button", name="Change key")).to_be_visible()
    expect(tab.get_by_role("alert")).to_have_count(0)


def test_every_part_says_that_a_key_is_missing(tab: Page, running: Stack) -> None:
    tab.goto(running.outputs["ConsoleUrl"])
    tab.get_by_role("button", name="Start listening").click()
    expect(tab.locator("#captions-error")).to_have_text("Enter your API key first.")
    tab.get_by_role("button", name="Read aloud").click()
    expect(tab.locator("#speak-error")).to_have_text("Enter your API key first.")
    tab.get_by_label("Choose a recording").set_input_files(
        {"name": "a.wav", "mimeType": "audio/wav", "buffer": b"RIFF"}
    )
    expect(tab.locator("#recordings-error")).to_have_text("Enter your API key first.")


def test_a_key_is_forgotten_when_another_is_to_be_used(page: Page) -> None:
    page.get_by_role("button", name="Change key").click()
    expect(page.get_by_role("textbox", name="API key")).to_be_focused()
    assert page.evaluate(STORED) == [[], [], ""]


def test_an_api_that_is_gone_is_named(page: Page) -> None:
    page.route("**/v1/**", lambda route: route.abort())
    page.get_by_label("Choose a recording").set_input_files(
        {"name": "a.wav", "mimeType": "audio/wav", "buffer": b"RIFF"}
    )
    expect(page.locator("#recordings-error")).to_have_text("The API cannot be reached. Is it up, and are you online?")
