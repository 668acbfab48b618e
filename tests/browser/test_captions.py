"""Live captions of a recorded file that Chromium takes for its microphone."""

from __future__ import annotations

import json
import re
from difflib import SequenceMatcher

from playwright.sync_api import Locator, Page, WebSocketRoute, expect

from tests.browser.conftest import SAID

FIGURE = re.compile(r"^\d+ ms$|^\d+\.\d\d s$")


def likeness(text: str) -> float:
    """1 for the words of the recording, 0 for none of them; a busy machine may swallow some of the microphone."""
    words = re.sub(r"[^a-z ]", "", text.lower()).split()
    return SequenceMatcher(None, words, SAID.split(), autojunk=False).ratio()


def listen(page: Page) -> Locator:
    """Starts; the button that stops."""
    page.get_by_role("button", name="Start listening").click()
    return page.get_by_role("button", name="Stop", exact=True)


def stop(page: Page) -> str:
    """Stops; all that was heard."""
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.get_by_role("button", name="Start listening")).to_be_visible()
    return page.get_by_role("log", name="Captions").inner_text()


def test_words_appear_while_they_are_said_and_become_final(page: Page) -> None:
    assert listen(page).is_enabled()
    expect(page.get_by_role("status").filter(has_text="Listening")).to_be_visible()
    expect(page.locator("#partial .open")).not_to_be_empty()
    expect(page.locator("#first-words")).to_have_text(FIGURE)
    expect(page.locator("#captions p")).not_to_have_count(0)
    expect(page.locator("#final-after")).to_have_text(FIGURE)
    expect(page.get_by_role("meter", name="Microphone level")).to_have_attribute(
        "aria-valuetext", re.compile("decibels")
    )
    text = stop(page)
    assert likeness(text) > 0.6, text
    assert text[0].isupper()  # as it is written, not as it was spoken
    assert text.rstrip().endswith(".")
    expect(page.locator("#partial")).to_be_empty()


def test_one_may_stop_in_the_middle_and_start_again(page: Page) -> None:
    listen(page)
    expect(page.locator("#partial .open")).not_to_be_empty()
    before = stop(page)
    assert before
    listen(page)
    expect(page.locator("#captions p").nth(len(before.splitlines()))).to_be_visible()
    stop(page)


def test_messages_that_get_lost_are_sent_again_and_repeats_change_nothing(page: Page) -> None:
    lost, resent = set[int](), set[int]()

    def meddle(route: WebSocketRoute) -> None:
        server = route.connect_to_server()

        def upwards(text: str | bytes) -> None:
            number = json.loads(text).get("sequence", 0)
            if number in (3, 9) and number not in lost:
                lost.add(number)
                return
            resent.update({number} & lost)
            server.send(text)
            server.send(text)

        route.on_message(upwards)
        server.on_message(lambda text: [route.send(text) for _ in range(2)] and None)

    page.route_web_socket(re.compile("token="), meddle)
    listen(page)
    expect(page.locator("#captions p")).not_to_have_count(0)
    text = stop(page)
    assert likeness(text) > 0.6, text
    assert lost == resent == {3, 9}


def test_a_connection_that_ends_is_told(page: Page) -> None:
    listen(page)
    expect(page.locator("#partial .open")).not_to_be_empty()
    page.get_by_role("button", name="Change key").click()
    expect(page.locator("#captions-error")).to_have_text("The connection was lost. Start again.")
    expect(page.get_by_role("button", name="Start listening")).to_be_enabled()


def test_a_microphone_that_cannot_be_had_is_named(page: Page) -> None:
    for name, words in (
        ("NotAllowedError", "may not use the microphone"),
        ("NotFoundError", "no microphone here"),
    ):
        page.evaluate(
            "name => { navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', name)); }", name
        )
        page.get_by_role("button", name="Start listening").click()
        expect(page.locator("#captions-error")).to_contain_text(words)
        expect(page.get_by_role("button", name="Start listening")).to_be_enabled()
