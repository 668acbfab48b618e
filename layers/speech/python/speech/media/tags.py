"""Tags of a media stream, and the names that Kinesis Video Streams puts what it knows of a fragment under."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from speech.errors import BadMedia
from speech.media import ebml, ids
from speech.media.events import FragmentInfo, ServiceError
from speech.media.limits import Limits

PREFIX = "AWS_KINESISVIDEO_"
FRAGMENT_NUMBER = PREFIX + "FRAGMENT_NUMBER"
SERVER_TIMESTAMP, PRODUCER_TIMESTAMP = PREFIX + "SERVER_TIMESTAMP", PREFIX + "PRODUCER_TIMESTAMP"
# GetMediaForFragmentList has names of its own for these.
SERVER_SIDE_TIMESTAMP = PREFIX + "SERVER_SIDE_TIMESTAMP"
PRODUCER_SIDE_TIMESTAMP = PREFIX + "PRODUCER_SIDE_TIMESTAMP"
MILLIS_BEHIND_NOW, CONTINUATION_TOKEN = PREFIX + "MILLIS_BEHIND_NOW", PREFIX + "CONTINUATION_TOKEN"
ERROR_CODE, ERROR_ID = PREFIX + "ERROR_CODE", PREFIX + "ERROR_ID"
EXCEPTION_CODE, EXCEPTION_MESSAGE = PREFIX + "EXCEPTION_ERROR_CODE", PREFIX + "EXCEPTION_MESSAGE"
END_OF_FRAGMENT = PREFIX + "END_OF_FRAGMENT"
TRAILERS = frozenset({MILLIS_BEHIND_NOW, CONTINUATION_TOKEN, END_OF_FRAGMENT})


def parse_tags(data: bytes, limits: Limits, into: dict[str, str]) -> None:
    """Put the tags of a Tags element into `into`: those before the place where BadMedia is raised, if it is.

    A tag within another one is named "OUTER/INNER"; of two with one name the later counts; binary values are left out.
    """
    for element, content in ebml.children(data, ids.TAGS):
        if element == ids.TAG:
            for inner, value in ebml.children(content, ids.TAG):
                if inner == ids.SIMPLE_TAG:
                    _simple_tag(value, "", 1, limits, into)


def _simple_tag(data: memoryview, prefix: str, depth: int, limits: Limits, into: dict[str, str]) -> None:
    if depth > limits.depth:
        raise BadMedia(f"SimpleTags nested more than {limits.depth} deep")
    name, value, nested = "", None, []
    for element, content in ebml.children(data, ids.SIMPLE_TAG):
        if element in (ids.TAG_NAME, ids.TAG_STRING) and len(content) > limits.tag_bytes:
            raise BadMedia(f"{ids.name(element)} of {len(content)} bytes, at most {limits.tag_bytes} are allowed")
        if element == ids.TAG_NAME:
            name = ebml.text(content)
        elif element == ids.TAG_STRING:
            value = ebml.text(content)
        elif element == ids.SIMPLE_TAG:
            nested.append(content)
    if value is not None:
        if len(into) >= limits.tags and prefix + name not in into:
            raise BadMedia(f"more than {limits.tags} tags in one Tags element")
        into[prefix + name] = value
    for content in nested:
        _simple_tag(content, f"{prefix}{name}/", depth + 1, limits, into)


def told(values: Mapping[str, str], info: FragmentInfo) -> FragmentInfo:
    """`info` with what the service's tags among `values` add; BadMedia when one is no number."""
    server = values.get(SERVER_TIMESTAMP, values.get(SERVER_SIDE_TIMESTAMP))
    producer = values.get(PRODUCER_TIMESTAMP, values.get(PRODUCER_SIDE_TIMESTAMP))
    behind = values.get(MILLIS_BEHIND_NOW)
    return replace(
        info,
        number=values.get(FRAGMENT_NUMBER, info.number),
        server_timestamp=info.server_timestamp if server is None else _seconds(SERVER_TIMESTAMP, server),
        producer_timestamp=info.producer_timestamp if producer is None else _seconds(PRODUCER_TIMESTAMP, producer),
        millis_behind_now=info.millis_behind_now if behind is None else round(_seconds(MILLIS_BEHIND_NOW, behind)),
        continuation_token=values.get(CONTINUATION_TOKEN, info.continuation_token),
    )


def service_error(values: Mapping[str, str], fragment: str | None) -> ServiceError | None:
    """The error that the tags tell of, if any; of GetMedia (ERROR_) or GetMediaForFragmentList (EXCEPTION_)."""
    if not {ERROR_CODE, ERROR_ID, EXCEPTION_CODE, EXCEPTION_MESSAGE} & values.keys():
        return None
    number = values.get(ERROR_ID, values.get(EXCEPTION_CODE, ""))
    known = int(number) if number.isdecimal() and number.isascii() and len(number) <= 9 else None
    code = values.get(ERROR_CODE, "" if known is not None else number)
    return ServiceError(code, known, values.get(EXCEPTION_MESSAGE, ""), values.get(FRAGMENT_NUMBER, fragment))


def users(values: Mapping[str, str]) -> dict[str, str]:
    """The tags that the producer gave."""
    return {name: value for name, value in values.items() if not name.startswith(PREFIX)}


def _seconds(name: str, value: str) -> float:
    """A decimal number of a tag; the service writes milliseconds behind a full stop."""
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0 <= number < 1e12:
        raise BadMedia(f"tag {name} is {value[:40]!r}, expected a number from 0 to 1e12")
    return number
