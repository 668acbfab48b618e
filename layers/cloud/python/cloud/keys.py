"""The key that signs tokens, from Secrets Manager, kept by the process for some minutes."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from cloud.clients import client
from cloud.tokens import Claims, ForgedToken, verify

KEPT_S = 300  # seconds for which a key is used without looking whether it was rotated
GLANCE_S = 5  # seconds between two looks on account of tokens that do not fit


@dataclass(slots=True)
class _Held:
    key: bytes = b""
    read_s: float = field(default=0.0)  # time.monotonic()


_held: dict[str, _Held] = {}


def signing_key(secret_id: str, oldest_s: float = KEPT_S) -> bytes:
    """The key under a secret's name or ARN; one that was read less than `oldest_s` seconds ago is taken as it is."""
    now_s, held = time.monotonic(), _held.get(secret_id)
    if held is None or now_s - held.read_s >= oldest_s:
        answer = client("secretsmanager").get_secret_value(SecretId=secret_id)
        held = _held[secret_id] = _Held(answer["SecretString"].encode(), now_s)
    return held.key


def verified(secret_id: str, token: str, *, purpose: str, now_s: float) -> Claims:
    """`tokens.verify` with the key of a secret; a token that does not fit makes it look whether the key was rotated."""
    try:
        return verify(signing_key(secret_id), token, purpose=purpose, now_s=now_s)
    except ForgedToken:
        return verify(signing_key(secret_id, GLANCE_S), token, purpose=purpose, now_s=now_s)
