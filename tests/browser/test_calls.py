"""Live calls: listed, opened, watched while they go on, answered aloud, read and taken away once they are over."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, WebSocketRoute, expect

from local.__main__ import main
from local.stack import Stack
from tests.browser import phone
from tests.browser.conftest import AUDIO, PROMPT, SOUNDS, opened, watched
from tests.browser.phone import Phone
from tests.browser.test_accessible import FAINT

CALL, OVER = "front-desk", "Over: its stream went on with another call"
FIGURE = re.compile(r"^\d+ ms$|^\d{1,3}\.\d\d s$")


@pytest.fixture(scope="module")
def exchange(running: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Where calls come from."""
    with phone.exchange(running, tmp_path_factory.mktemp("exchange")) as variables:
        yield variables


def live(page: Page) -> Page:
    """The page, scrolled to the calls, which are looked for while they can be seen."""
    page.get_by_role("heading", name="Live calls").scroll_into_view_if_needed()
    return page


def said(page: Page, who: str) -> Locator:
    """What somebody has said, without what may still change."""
    return page.locator(f"#call-log [data-who={who}]")


def row(page: Page, name: str = CALL) -> Locator:
    return page.get_by_role("list", name="Calls").get_by_role("button", name=name)


def test_where_there_are_none_it_is_said_how_to_begin_one(page: Page) -> None:
    live(page)
    expect(page.locator("#calls-empty")).to_contain_text("python -m local call FILE --page")
    expect(page.get_by_role("list", name="Calls")).to_be_hidden()


def test_a_call_is_watched_from_its_first_word_to_its_transcript(
    page: Page, running: Stack, exchange: dict[str, str], tmp_path: Path
) -> None:
    page.evaluate(SOUNDS)
    line = Phone(CALL)
    phone.begin(running, CALL)
    row(live(page)).press("Enter")
    state = page.locator("#call-said")
    expect(state).to_have_text("Waiting for a worker")
    expect(row(page)).to_have_attribute("aria-current", "true")
    page.get_by_role("button", name="Hear the replies").click()
    with phone.worker(exchange), watched(page.context.new_page()) as newcomer:
        line.say(caller="cat dog 1.5")
        expect(said(page, "customer")).to_have_text(re.compile(r"0:00\.0\s*Caller\s*Cat dog\."))
        expect(row(page)).to_contain_text("On the line")
        expect(said(page, "reply")).to_have_text(re.compile(r"^\d:\d\d\.\d\s*Reply\s*Cat dog\.$"))
        line.say(agent="0.5 two oak 1.5")
        expect(said(page, "agent")).to_contain_text("Two oak.")
        row(live(opened(newcomer, running))).click()
        expect(newcomer.locator("#call-said")).to_have_text("Watching")
        the_caller_breaks_in(page, line)
        both_have_the_same(page, newcomer)
        line.hang_up()
        for tab in (page, newcomer):
            expect(tab.locator("#call-said")).to_have_text(OVER)
        both_have_the_same(page, newcomer)
        newcomer.reload()
        read_later(newcomer)
    everything_was_measured_and_heard(page)
    everybody_can_read_it(page)
    taken_away(page, tmp_path)


def everything_was_measured_and_heard(page: Page) -> None:
    """How late things were, and what the loudspeaker was given."""
    for name in ("words", "final", "reply"):
        expect(page.locator(f"#call-{name}")).to_have_text(FIGURE)
    expect(page.locator("#call-final + small")).to_have_text(re.compile(r"^median .* of \d$"))
    sounds = page.evaluate("() => window.sounds")
    assert {rate for _, rate, _ in sounds} == {8000}
    assert sum(duration for duration, _, _ in sounds) > 0.5
    assert max(peak for _, _, peak in sounds) > 0.01
    expect(row(page)).to_contain_text("Over")


def the_caller_breaks_in(page: Page, line: Phone) -> None:
    """Words may change while they are said; a long answer stops at the caller's next word."""
    line.say(caller=" ".join(["go tad two oak gag cat"] * 5))
    expect(page.locator("#call-now [data-who=customer]")).to_contain_text("two oak gag")
    expect(page.locator("#call-now [data-who=customer] .open")).not_to_be_empty()
    line.say(caller="1.5")
    expect(said(page, "customer")).to_have_count(2)
    expect(page.locator("#call-now [data-who=customer]")).to_have_count(0)
    expect(page.locator("#call-now [data-who=reply]")).to_contain_text("tad")
    line.say(caller="dog dog 0.2")
    expect(said(page, "reply").last).to_contain_text("(the caller broke in)")
    assert "gag cat." not in said(page, "reply").last.inner_text()


def both_have_the_same(first: Page, newcomer: Page) -> None:
    """Who came in the midst of the call has all lines, each once, whatever was said while it came."""
    for who in ("customer", "agent", "reply"):
        expect(said(newcomer, who)).to_have_text(said(first, who).all_inner_texts(), use_inner_text=True)


def everybody_can_read_it(page: Page) -> None:
    """In the light and in the dark, at any width."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.evaluate("() => Promise.all(document.getAnimations().map((one) => one.finished))")
        assert page.evaluate(FAINT) == []
    for width in (320, 390, 768, 1600):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width


def taken_away(page: Page, folder: Path) -> None:
    """The transcript in four formats."""
    files = dict[str, str]()
    for name in ("TXT", "SRT", "VTT", "JSON"):
        button = page.get_by_role("group", name="Download the transcript of the call").get_by_role("button", name=name)
        with page.expect_download() as download:
            button.click()
        assert download.value.suggested_filename == f"{CALL}.{name.lower()}"
        download.value.save_as(folder / name)
        files[name] = (folder / name).read_text()
    assert files["TXT"].startswith("customer: Cat dog.\n")
    assert "\nreply: Cat dog." in files["TXT"]
    assert files["SRT"].startswith("1\n00:00:0")
    assert "<v agent>Two oak." in files["VTT"]
    assert json.loads(files["JSON"])["results"]["speakers"] == {
        "ch_0": "customer", "ch_1": "agent", "ch_2": "reply",
    }  # fmt: skip


def read_later(page: Page) -> None:
    """A call that is over: its transcript with all who spoke, nothing to listen to, and no latency of it."""
    row(live(page)).click()
    expect(said(page, "agent")).to_have_text(re.compile(r"0:0\d\.\d\s*Agent\s*Two oak\.$"))
    expect(said(page, "reply").first).to_contain_text("Cat dog.")
    expect(page.locator("#call-said")).to_have_text(OVER)
    expect(page.locator("#call-figures")).to_be_hidden()
    expect(page.get_by_role("button", name="Hear the replies")).to_be_hidden()


# What is said of the call, each for a moment only.
STATES = """() => {
  window.states = [];
  const node = document.getElementById('call-said');
  new MutationObserver(() => window.states.push(node.textContent)).observe(node, { childList: true });
}"""


def test_a_lost_connection_is_made_again_by_itself(page: Page, running: Stack, exchange: dict[str, str]) -> None:
    phone.begin(running, "nobody-listens")
    routes: list[WebSocketRoute] = []

    def once(route: WebSocketRoute) -> None:
        """The first connection ends as soon as the call is watched."""
        routes.append(route)
        server = route.connect_to_server()
        server.on_message(lambda text: route.close() if len(routes) == 1 else route.send(text))

    page.route_web_socket(re.compile("token="), once)
    page.evaluate(STATES)
    row(live(page), "nobody-listens").click()
    page.wait_for_function("() => window.states.at(-1) === 'Waiting for a worker'")
    assert page.evaluate("() => window.states") == [
        "Connecting",
        "The connection is lost; trying again",
        "Waiting for a worker",
    ]
    page.get_by_role("button", name="Change key").click()
    expect(page.get_by_role("list", name="Calls")).to_be_hidden()
    expect(page.locator("#call")).to_be_hidden()


def test_what_forbids_watching_is_said_in_words(page: Page, running: Stack, exchange: dict[str, str]) -> None:
    phone.begin(running, "nobody-listens")
    many = {"type": "error", "code": "too_many_watchers", "message": "call nobody-listens has 100 watchers already"}

    def refuse(route: WebSocketRoute) -> None:
        route.on_message(lambda text: route.send(json.dumps(many | {"call": json.loads(text)["call"]})))

    page.route_web_socket(re.compile("token="), refuse)
    row(live(page), "nobody-listens").click()
    expect(page.locator("#call-error")).to_have_text(many["message"])


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (None, "The API cannot be reached. Is it up, and are you online?"),
        (
            {"status": 404, "json": {"error": {"code": "unknown_url", "message": "no such path"}}},
            "Live calls are not deployed here: they need the parameter WorkerImage of the template.",
        ),
    ],
)
def test_calls_that_cannot_be_listed_are_explained(page: Page, answer: dict[str, Any] | None, words: str) -> None:
    page.route("**/v1/calls?*", lambda route: route.fulfill(**answer) if answer else route.abort())
    live(page)
    expect(page.locator("#calls-error")).to_have_text(words)


def test_a_recording_is_played_as_a_call_for_the_page(
    page: Page, running: Stack, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--state", str(running.folder), "call", str(PROMPT), "--page", "--speed", "8", "--respond", "none"]
    assert main(asked) == 0
    told = capsys.readouterr().out
    assert running.page_url in told
    assert told.endswith("the call is over: contact\n")
    row(live(page), PROMPT.stem).click()
    expect(said(page, "customer")).to_contain_text("The number you have")


def test_playing_a_recording_for_the_page_says_what_stands_in_the_way(
    running: Stack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(AUDIO / "silence.wav")
    for options, complaint in (
        ([str(tmp_path / "none.wav")], "none.wav"),
        ([file, "--kill"], "--page goes with"),
        ([file, "--respond", "somebody"], "expected echo, none or a URL"),
    ):
        assert main(["--state", str(running.folder), "call", "--page", *options]) == 1
        assert complaint in capsys.readouterr().err
    assert main(["--state", str(tmp_path), "call", "--page", file]) == 1
    assert "no stack is up here" in capsys.readouterr().err
    (running.folder / "heartbeat").touch()
    assert main(["--state", str(running.folder), "call", "--page", file]) == 1
    assert "a worker of this stack is up already" in capsys.readouterr().err
    (running.folder / "heartbeat").unlink()
