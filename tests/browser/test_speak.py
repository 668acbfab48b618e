"""Reading aloud: the text begins to sound, each word is marked while it does, and one may stop it."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Page, expect

from local.stack import Stack
from tests.browser.conftest import SOUNDS

TEXT = "Your table for 2 is booked. 🎈 See you!"
# Every word that is marked, in order.
WATCH = """() => {
  window.marked = [];
  new MutationObserver(() => {
    const word = document.querySelector('#text-copy mark')?.textContent;
    if (word && word !== window.marked.at(-1)) window.marked.push(word);
  }).observe(document.getElementById('text-copy'), { childList: true, subtree: true, characterData: true });
}"""


def read(page: Page, text: str) -> None:
    page.evaluate(SOUNDS)
    page.evaluate(WATCH)
    page.get_by_role("textbox", name="Text to read").fill(text)
    page.get_by_role("button", name="Read aloud").click()


def idle(page: Page) -> None:
    expect(page.get_by_role("button", name="Read aloud")).to_be_enabled()
    expect(page.get_by_role("textbox", name="Text to read")).to_be_editable()


def test_a_text_begins_to_sound_and_its_words_are_marked_one_after_the_other(page: Page) -> None:
    read(page, TEXT)
    expect(page.get_by_role("status").filter(has_text="Speaking")).to_be_visible()
    expect(page.locator("#first-audio")).to_have_text(re.compile(r"^\d+ ms$|^\d+\.\d\d s$"))
    assert not page.get_by_role("textbox", name="Text to read").is_editable()
    idle(page)
    marked, sounds = page.evaluate("() => [window.marked, window.sounds]")
    words = [word.strip(".!?") for word in TEXT.split() if word[0].isalnum()]
    spoken = iter(words)
    assert len(marked) >= len(words) // 2  # a page that gets no time to draw may pass over a short word
    assert all(word in spoken for word in marked), marked  # in order
    assert {rate for _, rate, _ in sounds} == {24000}
    assert sum(duration for duration, _, _ in sounds) > 2
    assert max(peak for _, _, peak in sounds) > 0.05
    expect(page.locator("#text-copy mark")).to_have_count(0)


def test_speech_stops_at_a_click_and_at_escape_and_can_begin_again(page: Page) -> None:
    heard: list[dict[str, Any]] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: heard.append({"sent": str(frame)})))
    read(page, "The ferry left the harbor before sunrise, and by noon the passengers could see the white cliffs. " * 3)
    expect(page.locator("#text-copy mark")).to_have_count(1)
    page.get_by_role("button", name="Stop", exact=True).click()
    idle(page)
    assert any('"cancel"' in one["sent"] and '"played_s"' in one["sent"] for one in heard)
    page.get_by_role("textbox", name="Text to read").press("Control+Enter")
    expect(page.locator("#text-copy mark")).to_have_count(1)
    page.get_by_role("textbox", name="Text to read").press("Escape")
    idle(page)
    expect(page.locator("#speak-error")).to_be_hidden()


def test_speed_and_voice_go_along(page: Page) -> None:
    sent: list[str] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(str(frame))))
    expect(page.get_by_role("combobox", name="Voice")).to_have_value("heart")
    page.get_by_role("slider", name="Speed").fill("1.5")
    expect(page.get_by_text("1.50 ×")).to_be_visible()
    read(page, "Fast.")
    idle(page)
    assert '"speed":1.5' in sent[0]
    assert '"voice":"heart"' in sent[0]


def test_what_cannot_be_spoken_is_said_in_words(page: Page) -> None:
    read(page, "  ")
    expect(page.locator("#speak-error")).to_have_text("There is nothing to read: type or paste a text first.")
    read(page, "!!! ...")
    expect(page.locator("#speak-error")).to_have_text("There is nothing in it that can be spoken.")
    idle(page)


def test_a_text_that_is_too_long_to_be_read_at_once_becomes_a_file(page: Page) -> None:
    page.get_by_role("textbox", name="Text to read").fill("One." + " " * 24_000 + "Two.")
    expect(page.get_by_role("status").filter(has_text="Too long to be read at once")).to_be_visible()
    page.get_by_role("button", name="Make a file").click()
    link = page.get_by_role("link", name=re.compile(r"^Speech, 0:0\d\.\d, MP3$"))
    expect(link).to_be_visible()
    file = page.request.get(link.get_attribute("href") or "")
    assert (file.status, file.headers["content-type"]) == (200, "audio/mpeg")
    assert len(file.body()) > 4000
    page.get_by_role("textbox", name="Text to read").fill("Short.")
    expect(page.get_by_role("button", name="Read aloud")).to_be_enabled()
    expect(link).to_have_count(0)


def test_who_does_not_want_to_wait_for_a_file_may_write_on(page: Page) -> None:
    page.route("**/v1/jobs/*", lambda route: route.fulfill(json={"status": "IN_PROGRESS", "progress": 0.124}))
    page.get_by_role("textbox", name="Text to read").fill("One." + " " * 24_000 + "Two.")
    page.get_by_role("button", name="Make a file").click()
    expect(page.get_by_role("status").filter(has_text="Making the file: 12 %")).to_be_visible()
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.get_by_role("button", name="Make a file")).to_be_enabled()
    assert page.get_by_role("textbox", name="Text to read").is_editable()
    expect(page.locator("#speak-error")).to_be_hidden()


def test_a_connection_that_cannot_be_had_is_told(tab: Page, running: Stack) -> None:
    tab.route_web_socket(re.compile("token="), lambda route: route.close())
    tab.goto(running.page_url)
    expect(tab.get_by_role("combobox", name="Voice")).to_be_enabled()
    read(tab, TEXT)
    expect(tab.locator("#speak-error")).to_contain_text(re.compile("could not be opened|was lost"))
    idle(tab)
