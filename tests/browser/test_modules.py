"""Parts of the page by themselves, run in the page's own realm: the outbox, the resampler, clocks and places."""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Iterator
from typing import Any

import pytest
from cloud.pages import Page as Served
from playwright.sync_api import Browser, Error, Page, Route
from speech.audio import pcm

from tests.contract.house import ROOT

MODULE = "const load = name => import(document.querySelector(`link[href$='api.js']`).href.replace('api.js', name));"
# A server as API Gateway and the socket function are: it takes messages in order, keeps 16 that are early, and tells
# nothing of silence; `drops` counts how often each message gets lost on its way.
SERVER = """
const { Outbox } = await load('outbox.js');
const [clock, taken, waiting] = [{ now: 1e6 }, [], new Set()];
performance.now = () => clock.now;
let ended = false;
const box = new Outbox(({ sequence, type }) => {
  if (drops[sequence]) { drops[sequence] -= 1; return; }
  if (sequence < taken.length) {
    if (ended) answers.push({ type: 'done', received: taken.length });
    return;
  }
  if (sequence > taken.length) {
    if (waiting.size >= 16) answers.push({ type: 'error', code: 'too_many_waiting', sequence, expected: taken.length });
    else waiting.add(sequence);
    if (waiting.size === 9) answers.push({ type: 'error', code: 'missing_message', expected: taken.length });
    return;
  }
  taken.push(sequence);
  while (waiting.delete(taken.length)) taken.push(taken.length);
  if (taken.length % talks === 0) answers.push({ type: 'partial', received: taken.length });
  if (type === 'stop' || taken.length > count) { ended = true; answers.push({ type: 'done', received: taken.length }); }
});
const answers = [];
for (let i = 0; i < count + 400 && !(ended && !answers.length); i += 1) {
  clock.now += 200;
  if (i <= count) box.send({ type: i < count ? 'audio' : 'stop' }, i === count);
  for (const answer of answers.splice(0)) box.hear(answer);
  if (i % 5 === 0) box.tick();
}
return { taken: taken.length, ended, resent: box.resent };
"""


@pytest.fixture(scope="module")
def page(chromium: Browser) -> Iterator[Page]:
    """The page without a stack behind it."""
    served = Served(ROOT / "functions" / "console" / "page", {"socket": "ws://127.0.0.1/"}, [])

    def answer(route: Route) -> None:
        name = route.request.url.partition("/console/")[2]
        answer = served.answer({"path": "/console", "pathParameters": {"proxy": name} if name else None})
        route.fulfill(status=answer["statusCode"], headers=answer["headers"], body=answer["body"])

    tab = chromium.new_page()
    tab.route("**/*", answer)
    tab.goto("http://127.0.0.1/console")
    yield tab
    tab.close()


def run(page: Page, body: str, **values: Any) -> Any:
    """What a function's body gives that may `load` modules of the page and use `values` by name."""
    names = ", ".join(values)
    return page.evaluate(f"async ({{ {names} }}) => {{ {MODULE} {body} }}", values)


@pytest.mark.parametrize(
    "drops",
    [
        {},
        {"0": 1},
        {"3": 1, "9": 1},
        {"3": 5},
        dict.fromkeys(map(str, range(10, 40)), 1),
        {"100": 2},
        {"99": 1, "100": 1},
    ],
)
@pytest.mark.parametrize("talks", [1, 3, 1000])
def test_what_gets_lost_is_sent_again_and_the_stream_ends(page: Page, drops: dict[str, int], talks: int) -> None:
    found = run(page, SERVER, drops=drops, talks=talks, count=100)
    assert (found["taken"], found["ended"]) == (101, True)
    assert found["resent"] == 0 if not drops else found["resent"] >= sum(drops.values())


def test_the_resampler_gives_the_same_however_its_input_is_cut(page: Page) -> None:
    cut = """
      const { Resampler } = await load('resampler.js');
      const input = Float32Array.from({ length: 9000 }, (_, i) => Math.sin(i * i / 9000));
      const whole = new Resampler(from, 16000).receive(input);
      const parts = new Resampler(from, 16000);
      const out = [];
      for (let at = 0, size = 1; at < input.length; at += size, size = size % 700 + 13) {
        out.push(...parts.receive(input.subarray(at, at + size)));
      }
      return [whole.length, out.length, whole.every((sample, i) => sample === out[i])];
    """
    for rate in (48000, 44100, 16000, 8000):
        whole, parts, same = run(page, cut, **{"from": rate})
        assert whole == parts
        assert same
        assert abs(whole - 9000 * 16000 / rate) < 40


@pytest.mark.parametrize(("from_hz", "tone_hz", "kept"), [(48000, 1000, 1), (44100, 6000, 1), (48000, 11000, 0)])
def test_the_resampler_keeps_what_fits_and_nothing_that_would_fold(
    page: Page, from_hz: int, tone_hz: int, kept: int
) -> None:
    body = """
      const { Resampler } = await load('resampler.js');
      const tone = (rate, n) => Float32Array.from({ length: n }, (_, i) => Math.sin(2 * Math.PI * hz * i / rate));
      const made = new Resampler(from, 16000).receive(tone(from, from));
      const wanted = tone(16000, made.length);
      const middle = (samples) => samples.subarray(200, 15000);
      return [middle(made).reduce((most, x) => Math.max(most, Math.abs(x)), 0),
              middle(made.map((x, i) => x - kept * wanted[i])).reduce((most, x) => Math.max(most, Math.abs(x)), 0)];
    """
    loudest, error = run(page, body, **{"from": from_hz, "hz": tone_hz, "kept": kept})
    assert error < 0.01
    assert math.isclose(loudest, kept, abs_tol=0.02)


def test_latency_is_counted_from_the_sample_and_jitter_makes_it_no_shorter(page: Page) -> None:
    body = """
      const { HeardAt, Series } = await load('latency.js');
      const clock = { now: 5000 };
      performance.now = () => clock.now;
      const heard = new HeardAt();
      heard.add(0.2);                      // its last sample was heard at 5000
      clock.now = 5260; heard.add(0.2);    // came 60 ms late
      clock.now = 5400; heard.add(0.2);
      clock.now = 5500;
      const series = new Series();
      for (const value of [300, 100, 200, 1000]) series.add(value);
      return [heard.since(0.6), heard.since(0.1), series.latest, series.median, series.count];
    """
    assert run(page, body) == [100, 600, 1000, 250, 4]


def test_words_are_marked_by_code_points(page: Page) -> None:
    body = """
      const { Reader } = await load('reader.js');
      const field = document.getElementById('text');
      field.value = 'Ein 🎈 für 2';
      const copy = document.getElementById('text-copy');
      const reader = new Reader(field, copy, document.getElementById('text-box'));
      reader.show(6, 9);
      return [copy.querySelector('mark').textContent, copy.textContent];
    """
    assert run(page, body) == ["für", "Ein 🎈 für 2\n"]


def test_times_are_written_for_readers(page: Page) -> None:
    body = """
      const { clock, inMs } = await load('dom.js');
      return [clock(0), clock(67.45), clock(59.96), inMs(84.4), inMs(1234)];
    """
    assert run(page, body) == ["0:00.0", "1:07.4", "0:59.9", "84 ms", "1.23 s"]


def test_every_code_of_mu_law_is_the_sample_that_it_stands_for(page: Page) -> None:
    body = "const { decoded } = await load('reply-sound.js'); return [...decoded(audio, encoding)];"
    codes = bytes(range(256))
    for encoding in ("pcm_mulaw", "pcm_s16le"):
        heard = run(page, body, audio=b64encode(codes).decode(), encoding=encoding)
        assert heard == pytest.approx(pcm.decode(codes, encoding).tolist(), abs=1e-6)
    with pytest.raises(Error, match="opus"):
        run(page, body, audio="", encoding="opus")


def test_what_is_told_again_is_old(page: Page) -> None:
    body = """
      const { Fresh } = await load('watching.js');
      const fresh = new Fresh();
      return events.map((event) => (event.next ? fresh.expect(event.next) ?? null : fresh.take(event)));
    """
    partial = {"type": "partial", "channel": 0, "segment": 0, "heard_s": 1.0}
    final = {"type": "final", "channel": 0, "segment": 0, "number": 1}
    past = {"type": "final", "channel": 0}  # what was so far has no numbers
    sound = {"type": "reply_audio", "reply": "1-1", "sequence": 0}
    told = [
        ({"type": "call_started"}, True),
        ({"type": "turn_start", "channel": 0, "number": 0}, True),
        (partial, True),
        (partial | {"heard_s": 1.4}, True),
        (partial | {"heard_s": 1.2}, False),  # cut differently after a death
        (final, True),
        (partial | {"heard_s": 1.6}, False),  # its segment is over
        (partial | {"segment": 1, "heard_s": 1.7}, True),
        ({"type": "turn_start", "channel": 0, "number": 0}, False),
        (final, False),
        (past | {"segment": 0}, False),  # the connection was lost and made again
        (past | {"segment": 1}, True),
        ({"next": {"0": 5}}, None),
        (final | {"segment": 1, "number": 3}, False),
        ({"type": "turn_end", "channel": 0, "number": 4}, False),
        (final | {"segment": 2, "number": 5}, True),
        (final | {"channel": 1, "number": 4}, True),
        (sound, True),
        (sound, False),
        ({"type": "reply_start", "reply": "1-1"}, True),
        ({"type": "reply_start", "reply": "1-1"}, False),
        ({"type": "reply_end", "reply": "1-1"}, True),
        ({"type": "reply_end", "reply": "1-1"}, False),
        (sound | {"reply": "2-1", "sequence": 7}, True),
    ]
    found = run(page, body, events=[event for event, _ in told])
    assert found == [expected for _, expected in told]


def test_what_was_before_somebody_came_stands_where_it_was_said(page: Page) -> None:
    body = """
      const { CallView } = await load('call-view.js');
      const view = new CallView();
      view.final({ channel: 0, speaker: 'customer', start_s: 5, end_s: 6, text: 'Second.' });
      view.replyEnds({ reply: '1-1', text: 'Answer.', interrupted: false, failed: '', start_s: 4.5, turn_end_s: 3 });
      view.final({ channel: 0, speaker: 'customer', start_s: 1, end_s: 3, text: 'First.' });
      view.leftOut('Earlier.');
      view.leftOut('Earlier.');
      view.replyGrows({ reply: '1-2', words: [{ text: 'on', start_s: 0 }, { text: 'and', start_s: 59.5 }] });
      view.replyStarts({ reply: '1-2', turn_end_s: 6, latency_ms: 500, ago_s: 60 });
      const now = document.getElementById('call-now').textContent;
      const settled = document.querySelector('#call-now .open').textContent;
      const lines = [...document.querySelectorAll('#call-log p')].map((line) => line.textContent);
      view.clear();
      return [now, settled, lines];
    """
    now, open_words, lines = run(page, body)
    assert (now, open_words) == ("0:06.5 Reply on and", "")
    assert lines == ["Earlier.", "0:01.0 Caller First.", "0:04.5 Reply Answer.", "0:05.0 Caller Second."]


def test_a_dialogue_stands_in_the_order_in_which_it_was_said(page: Page) -> None:
    body = """
      const { CallView } = await load('call-view.js');
      const view = new CallView();
      const words = (text) => text.split(' ').map((word, i) => ({ text: word, start_s: i }));
      view.partial({ channel: 1, speaker: 'agent', words: words('well then'), stable: 1, heard_s: 7 });
      const now = document.getElementById('call-now').textContent;
      view.final({ channel: 0, speaker: 'customer', start_s: 5, end_s: 6, text: 'Second.' });
      view.final({ channel: 1, speaker: 'agent', start_s: 1, end_s: 6.5, text: 'First.' });
      view.replyGrows({ reply: '1-1', words: [...words('at 7:30 7:30'), { text: 'pm', start_s: 3 }] });
      const soon = document.getElementById('call-now').lastChild.lastChild.textContent;
      view.replyStarts({ reply: '1-1', turn_end_s: 6, latency_ms: 1500 });
      view.final({ channel: 0, speaker: 'unknown', start_s: 7, end_s: 8, text: 'Third.' });
      view.replyEnds({ reply: '1-1', text: 'At 7:30', interrupted: true, failed: '' });
      view.replyEnds({ reply: '1-2', text: '', interrupted: false, failed: 'the endpoint is gone' });
      const lines = [...document.querySelectorAll('#call-log p')].map((line) => line.textContent);
      view.clear();
      return [now, soon, lines, view.empty];
    """
    now, soon, lines, empty = run(page, body)
    assert now == "0:00.0 Agent well then"
    assert soon == "at 7:30 pm"
    assert lines == [
        "0:01.0 Agent First.",
        "0:05.0 Caller Second.",
        "0:07.5 Reply At 7:30 (the caller broke in)",
        "0:07.0 Speaker 1 Third.",
        "0:08.0 Reply Nothing of it was heard. (no answer: the endpoint is gone)",
    ]
    assert empty
