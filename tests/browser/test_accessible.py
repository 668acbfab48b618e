"""For everybody: by keyboard alone, with a name for each control, enough contrast, at any width, standing still."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from local.stack import Stack
from tests.browser.conftest import PROMPT, opened, visitor, watched

CONTROLS = {"button", "link", "textbox", "combobox", "slider", "meter", "progressbar", "spinbutton", "log", "group"}
# The text that can be seen with too little contrast against what lies behind it, as WCAG 2 counts.
FAINT = """() => {
  const pen = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const rgb = (colour) => {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [r, g, b].map((x) => x / 255)
    .map((x) => (x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4))
    .reduce((sum, x, i) => sum + x * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = rgb(getComputedStyle(at).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255, 255];
  };
  const faint = [];
  for (const node of document.querySelectorAll('body *')) {
    const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
    const style = getComputedStyle(node);
    if (!own || !node.checkVisibility() || rgb(style.color)[3] < 255 || node.closest('.unseen, :disabled')) continue;
    const [one, two] = [light(rgb(style.color)), light(behind(node))].sort((a, b) => b - a);
    const contrast = (one + 0.05) / (two + 0.05);
    if (contrast < 4.5) faint.push(`${node.tagName} ${node.textContent.trim().slice(0, 30)} ${contrast.toFixed(2)}`);
  }
  return faint;
}"""
FOCUS = """() => {
  const node = document.activeElement;
  const style = getComputedStyle(node.classList.contains('unseen') ? node.parentElement.querySelector('.main') : node);
  return [node.id || node.textContent.trim(), style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2];
}"""


@pytest.fixture(scope="module")
def whole(profile: BrowserContext, running: Stack) -> Iterator[Page]:
    """A page with everything on it, for tests that only look."""
    with watched(profile.new_page()) as page:
        yield full(opened(page, running))


def full(page: Page) -> Page:
    """With a transcript, so that everything is there to be seen."""
    page.get_by_label("Choose a recording").set_input_files(PROMPT)
    expect(page.get_by_role("group", name="Transcript;")).to_contain_text("number")
    return page


def tab_to(page: Page, id: str) -> list[str]:
    """Presses Tab until an element has the focus; what had it on the way, each with an outline to see."""
    way: list[str] = []
    for _ in range(40):
        page.keyboard.press("Tab")
        name, outlined = page.evaluate(FOCUS)
        assert outlined, f"{name} has the focus and does not show it"
        way.append(name)
        if name == id:
            return way
    raise AssertionError(f"Tab never comes to {id}: {way}")


def test_every_control_has_a_name_and_every_id_is_there_once(whole: Page) -> None:
    page = whole
    session = page.context.new_cdp_session(page)
    nodes: list[dict[str, Any]] = session.send("Accessibility.getFullAXTree")["nodes"]
    shown = [node for node in nodes if not node["ignored"] and node.get("role", {}).get("value") in CONTROLS]
    assert len(shown) > 15
    assert [node["role"]["value"] for node in shown if not node.get("name", {}).get("value", "").strip()] == []
    ids = page.evaluate("() => [...document.querySelectorAll('[id]')].map((node) => node.id)")
    assert len(ids) == len(set(ids))
    assert page.evaluate("() => [...document.querySelectorAll('h1, h2')].map((node) => node.tagName)")[0] == "H1"
    assert page.evaluate("() => document.documentElement.lang") == "en"
    expect(page.get_by_role("log")).to_have_attribute("aria-live", "polite")


def test_every_text_can_be_read(whole: Page) -> None:
    page = whole
    page.get_by_role("textbox", name="Text to read").fill(" ")
    page.get_by_role("button", name="Read aloud").click()
    expect(page.locator("#speak-error")).to_be_visible()
    page.mouse.move(0, 0)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.evaluate("() => Promise.all(document.getAnimations().map((one) => one.finished))")
        assert page.evaluate(FAINT) == [], scheme


def test_everything_works_by_keyboard_alone(tab: Page, running: Stack) -> None:
    tab.goto(running.outputs["ConsoleUrl"])
    expect(tab.get_by_role("textbox", name="API key")).to_be_visible()
    tab_to(tab, "key")
    tab.keyboard.type(running.api_key)
    tab.keyboard.press("Enter")
    expect(tab.get_by_role("combobox", name="Voice")).to_be_enabled()
    tab_to(tab, "listen")
    tab.keyboard.press("Enter")
    expect(tab.get_by_role("button", name="Stop", exact=True)).to_be_visible()
    tab.keyboard.press("Space")
    expect(tab.get_by_role("button", name="Start listening")).to_be_enabled()
    assert "speed" in tab_to(tab, "text")
    tab.keyboard.press("Control+Enter")
    expect(tab.get_by_role("button", name="Stop", exact=True)).to_be_visible()
    tab.keyboard.press("Escape")
    expect(tab.get_by_role("button", name="Read aloud")).to_be_visible()
    tab_to(tab, "file")
    full(tab)
    way = tab_to(tab, "waveform")
    assert "play" in way
    place = tab.get_by_role("slider", name="Place in the recording")
    tab.keyboard.press("End")
    expect(place).to_have_attribute("aria-valuenow", "4.9")
    tab.keyboard.press("Home")
    expect(place).to_have_attribute("aria-valuenow", "0.0")
    assert tab_to(tab, "The") == ["The"]  # the whole transcript is one stop
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "End", "Home", "ArrowRight"):
        tab.keyboard.press(key)
    tab.keyboard.press("Enter")
    expect(tab.locator("#transcript [aria-current]")).to_have_text("number")
    tab_to(tab, "TXT")


def test_nothing_sticks_out_at_any_width(whole: Page) -> None:
    for width in (320, 390, 768, 1600):
        whole.set_viewport_size({"width": width, "height": 800})
        assert whole.evaluate("() => document.documentElement.scrollWidth") <= width


def test_nothing_moves_for_those_who_asked_for_that(chromium: Browser, running: Stack) -> None:
    with visitor(chromium, reduced_motion="reduce") as context, watched(context.new_page()) as tab:
        page = opened(tab, running)
        moving = """() => [...document.querySelectorAll('*')]
          .filter((node) => getComputedStyle(node).transitionDuration !== '0s').length"""
        assert page.evaluate(moving) == 0
        page.get_by_role("button", name="Start listening").click()
        expect(page.get_by_role("button", name="Stop", exact=True)).to_be_visible()
        # one bar from the left in place of a picture that wanders: the rightmost column stays empty
        rows = """() => { const c = document.getElementById('level'); const d = c.getContext('2d')
          .getImageData(c.width - 2, 0, 1, c.height).data; return new Set(d.filter((_, i) => i % 4 === 3)).size; }"""
        assert page.evaluate(rows) <= 2
