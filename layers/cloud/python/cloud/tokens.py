"""Short-lived tokens, signed by HMAC: a browser carries one into a WebSocket's address and never holds an API key.

    token = mint(key, purpose="socket", subject="alice", now_s=now_s, lifetime_s=60)
    claims = verify(key, token, purpose="socket", now_s=now_s)

A token is `ut1.<claims>.<signature>`: JSON and the HMAC-SHA256 of all before it, both base64url without padding, so it
needs no escaping in a query string. It is signed, not encrypted. Nothing here reads a clock or the network; the key is
`cloud.keys.signing_key`.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass

from speech.errors import BadInput

VERSION = "ut1"
MOST_CHARACTERS = 2048  # of a token that is looked at at all
LONGEST_LIFETIME_S = 3600
LONGEST_NAME = 256  # characters of a purpose or a subject
MOST_CALLS = 10  # that one token names
ANY_CALL = "*"
CALL = re.compile(r"[A-Za-z0-9_.-]{1,64}|\*")
SKEW_S = 30  # seconds that the clocks of two machines may differ
SHORTEST_KEY = 32  # bytes

_FORM = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")


class BadToken(BadInput):
    """A token that opens nothing; `code` is its name for programs."""

    code = "token_malformed"


class ForgedToken(BadToken):
    """Signed by another key, or altered."""

    code = "token_forged"


class ExpiredToken(BadToken):
    """Genuine, but its time is over or has not come."""

    code = "token_expired"


class WrongPurpose(BadToken):
    """Genuine, but made for another door."""

    code = "token_purpose"


@dataclass(frozen=True, slots=True)
class Claims:
    """What a genuine token says."""

    purpose: str  # the door that it opens
    subject: str  # whom it was given to
    issued_s: int  # seconds since 1970
    expires_s: int  # seconds since 1970: the first second in which it is no longer good
    calls: tuple[str, ...] = ()  # live calls that may be watched with it; ANY_CALL: all of them


def mint(key: bytes, *, purpose: str, subject: str, now_s: float, lifetime_s: int, calls: tuple[str, ...] = ()) -> str:
    """A token that is good for `lifetime_s` seconds from `now_s`, at most an hour.

    Raises BadInput where a purpose, a subject, a lifetime or calls cannot be had; ValueError for a key that is too
    short.
    """
    if not 1 <= lifetime_s <= LONGEST_LIFETIME_S:
        raise BadInput(f"a token's lifetime is 1 to {LONGEST_LIFETIME_S} seconds; got {lifetime_s}")
    for name, text in (("purpose", purpose), ("subject", subject)):
        if not 1 <= len(text) <= LONGEST_NAME:
            raise BadInput(f"a token's {name} has 1 to {LONGEST_NAME} characters; got {len(text)}")
    if len(calls) > MOST_CALLS or not all(CALL.fullmatch(call) for call in calls):
        raise BadInput(f"a token names up to {MOST_CALLS} calls by id, or {ANY_CALL!r} for any; got {calls!r:.200}")
    issued_s = int(now_s)
    record: dict[str, object] = {"pur": purpose, "sub": subject, "iat": issued_s, "exp": issued_s + lifetime_s}
    if calls:
        record["calls"] = list(calls)
    body = f"{VERSION}.{_text(json.dumps(record, separators=(',', ':')).encode())}"
    token = f"{body}.{_signature(key, body)}"
    if len(token) > MOST_CHARACTERS:
        raise BadInput(f"a token of {len(token)} characters, at most {MOST_CHARACTERS} are read: name fewer calls")
    return token


def verify(key: bytes, token: str, *, purpose: str, now_s: float) -> Claims:
    """What the token says, if it is genuine, of this purpose and its time is now.

    Raises BadToken, or the kind of it that fits: ForgedToken, ExpiredToken, WrongPurpose. What a token says is read
    only after its signature has been found good.
    """
    if len(token) > MOST_CHARACTERS or not _FORM.fullmatch(token):
        raise BadToken(f"not a token: expected {VERSION}.<claims>.<signature> of {MOST_CHARACTERS} characters or fewer")
    body, _, signature = token.rpartition(".")
    if not body.startswith(VERSION + "."):
        raise BadToken(f"the token is of version {body.partition('.')[0][:16]!r}, expected {VERSION!r}")
    if not hmac.compare_digest(signature, _signature(key, body)):
        raise ForgedToken("the token was not signed here, or was altered since")
    claims = _claims(body.partition(".")[2])
    if now_s >= claims.expires_s:
        raise ExpiredToken(f"the token expired {int(now_s) - claims.expires_s} seconds ago: get another")
    if now_s < claims.issued_s - SKEW_S:
        raise ExpiredToken(f"the token becomes good in {claims.issued_s - int(now_s)} seconds: one clock is off")
    if claims.purpose != purpose:
        raise WrongPurpose(f"the token is for {claims.purpose!r}, expected one for {purpose!r}")
    return claims


def _claims(text: str) -> Claims:
    record = json.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    calls = tuple(record.get("calls", ()))
    return Claims(record["pur"], record["sub"], record["iat"], record["exp"], calls)


def _signature(key: bytes, body: str) -> str:
    if len(key) < SHORTEST_KEY:
        raise ValueError(f"a signing key has {SHORTEST_KEY} bytes or more; got {len(key)}")
    return _text(hmac.new(key, body.encode(), hashlib.sha256).digest())


def _text(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()
