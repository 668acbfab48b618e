"""The page's function: what it answers, what the page may do, and that its files belong together."""

from __future__ import annotations

import re
from base64 import b64decode
from fnmatch import fnmatchcase
from gzip import decompress
from pathlib import Path
from typing import Any

import pytest

from local import template
from tests.functions.situations import ROOT, Load, load_event

FOLDER = ROOT / "functions" / "console" / "page"
SCRIPTS = sorted(FOLDER.glob("*.js"))
SOCKET = "wss://socket.example.com/live"
STORAGE = "https://input.s3.example.com,https://output.s3.example.com"
UNWANTED = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|localStorage|\sstyle="
IMPORT = re.compile(r"from '\./([\w-]+\.js)'|new URL\('\./([\w-]+\.js)'")


@pytest.fixture
def page(load: Load) -> Any:
    return load("console", SOCKET_URL=SOCKET, STORAGE_ORIGINS=STORAGE)


def get(page: Any, name: str = "", **headers: str) -> dict[str, Any]:
    event = load_event("old_file" if name else "page", "console")
    if name:
        event["pathParameters"]["proxy"] = name
    answer: dict[str, Any] = page.handler(event | {"headers": headers}, None)
    return answer


def test_the_page_names_files_of_its_version_and_they_are_there(page: Any) -> None:
    html = get(page)["body"]
    assert "{{" not in html
    assert f'data-socket="{SOCKET}"' in html
    named = re.findall(r'(?:href|src)="console/([^"]+)"', html)
    assert len(named) > 20
    for name in named:
        answer = get(page, name)
        assert answer["statusCode"] == 200
        assert answer["headers"]["Cache-Control"].endswith("immutable")
        assert answer["body"] == (FOLDER / name.split("/")[1]).read_text()


def test_every_module_is_named_ahead_so_that_none_waits_for_another(page: Any) -> None:
    html = get(page)["body"]
    ahead = set(re.findall(r'(?:modulepreload"|module") (?:href|src)="console/[^/]+/([^"]+)"', html))
    needed = {one or other for path in SCRIPTS for one, other in IMPORT.findall(path.read_text())} | {"main.js"}
    on_the_audio_thread = {"capture-worklet.js", "resampler.js"}  # fetched once somebody listens
    assert ahead == needed - on_the_audio_thread
    assert needed == {path.name for path in SCRIPTS}


def test_an_unchanged_file_is_not_sent_again_and_a_packed_one_is_the_same(page: Any) -> None:
    whole = get(page)
    tag = whole["headers"]["ETag"]
    again = get(page, **{"If-None-Match": f'"other", {tag}'})
    assert (again["statusCode"], again["body"], again["headers"]["ETag"]) == (304, "", tag)
    packed = get(page, **{"Accept-Encoding": "gzip, br"})
    assert packed["headers"]["Content-Encoding"] == "gzip"
    assert packed["headers"]["ETag"] == tag
    assert decompress(b64decode(packed["body"])).decode() == whole["body"]
    assert whole["headers"]["Cache-Control"] == "no-cache"


def test_a_file_of_another_version_is_not_there_and_no_path_leads_out(page: Any) -> None:
    version = page.page.version
    assert page.handler(load_event("old_file", "console"), None)["statusCode"] == 404
    for name in (f"{version}/index.html", f"{version}/../app.py", f"{version}/nothing.js", version, "../app.py"):
        assert get(page, name)["statusCode"] == 404


def test_a_slash_too_many_leads_to_the_page(page: Any) -> None:
    answer = page.handler(load_event("page", "console") | {"path": "/console/"}, None)
    assert (answer["statusCode"], answer["headers"]["Location"]) == (308, "../console")


def test_the_page_may_talk_to_its_own_api_and_to_nobody_else(page: Any) -> None:
    headers = get(page)["headers"]
    policy = dict(part.split(" ", 1) for part in headers["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == "'self'"
    assert policy["connect-src"].split() == ["'self'", SOCKET, *STORAGE.split(",")]
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"


@pytest.mark.parametrize("path", sorted(FOLDER.iterdir()), ids=lambda path: path.name)
def test_nothing_comes_from_elsewhere_and_no_file_is_long(path: Path) -> None:
    text = path.read_text().replace("http://www.w3.org/2000/svg", "")
    assert re.findall(r"(?:https?:)?//[\w-]+\.\w+", text) == []
    assert re.findall(UNWANTED, text) == []
    assert len(text.splitlines()) <= (240 if path.suffix == ".html" else 160)  # one document has every part
    if path.suffix == ".js":
        assert text.startswith("// ")


def test_the_buckets_let_the_page_send_and_read() -> None:
    source = template.read()
    address = source["Outputs"]["ConsoleUrl"]["Value"]["Fn::If"]  # IsEmulator, there, in AWS
    values = {"${Api}": "a1b2c3", "${AWS::Region}": "eu-west-1", "${AWS::URLSuffix}": "amazonaws.com"}
    values |= {"${EmulatorAddress}": "127.0.0.1:4566"}

    def filled(text: dict[str, str]) -> str:
        written = text["Fn::Sub"]
        for name, value in values.items():
            written = written.replace(name, value)
        return written

    buckets = template.resources(source, "AWS::S3::Bucket")
    for bucket, method in (("InputBucket", "POST"), ("OutputBucket", "GET")):
        [rule] = buckets[bucket]["CorsConfiguration"]["CorsRules"]
        assert rule["AllowedMethods"] == [method]
        allowed = rule["AllowedOrigins"][0]["Fn::If"]
        for place in (1, 2):
            origin = "/".join(filled(address[place]).split("/")[:3])
            assert fnmatchcase(origin, filled(allowed[place]))
            assert not fnmatchcase("https://example.com", filled(allowed[place]))
