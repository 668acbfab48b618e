"""Signature Version 4 of a request, recomputed with botocore's own signer and compared."""

from __future__ import annotations

import hashlib
import hmac
import re
from calendar import timegm
from collections.abc import Iterable
from dataclasses import dataclass
from time import strptime

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest, HTTPHeaders
from botocore.credentials import Credentials

from local.kvs.refusals import Refused
from local.kvs.settings import Settings

SERVICE = "kinesisvideo"
UNSIGNED = ("UNSIGNED-PAYLOAD", hashlib.sha256(b"").hexdigest())  # how producers sign a body that is still to come
_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=([^/,\s]+)/(\d{8})/([^/,\s]+)/([^/,\s]+)/aws4_request,\s*"
    r"SignedHeaders=([^,\s]+),\s*Signature=([0-9a-f]{64})"
)


@dataclass(frozen=True, slots=True)
class Request:
    """What a signature is over."""

    method: str
    host: str
    path: str  # as sent, with the query
    headers: Iterable[tuple[str, str]]
    body: bytes | None  # None: streamed, and not part of the signature


class _Recomputed(SigV4Auth):  # type: ignore[misc]
    """botocore's signer over the headers that the client chose to sign."""

    def __init__(self, secret: str, region: str, signed: list[str]) -> None:
        super().__init__(Credentials("", secret), SERVICE, region)
        self._signed = signed

    def headers_to_sign(self, request: AWSRequest) -> HTTPHeaders:
        chosen = HTTPHeaders()
        for name in self._signed:
            for value in request.headers.get_all(name, []):
                chosen[name] = value
        return chosen


def check(request: Request, settings: Settings, now_s: float) -> None:
    """Returns when the request is signed with a key of ours for this service, region and time; else `Refused`."""
    headers = HTTPHeaders()
    for name, value in request.headers:
        headers[name] = value
    if not (written := headers.get("Authorization")):
        raise Refused("MissingAuthenticationTokenException", "no Authorization header: sign with Signature Version 4")
    if not (found := _AUTHORIZATION.fullmatch(written.strip())):
        raise Refused("IncompleteSignatureException", f"Authorization is no AWS4-HMAC-SHA256: {written[:60]!r}")
    key, day, region, service, names, signature = found.groups()
    secret = settings.keys.get(key)
    if secret is None:
        raise Refused("UnrecognizedClientException", f"access key {key!r} is unknown here: {', '.join(settings.keys)}")
    if (region, service) != (settings.region, SERVICE):
        raise Refused(
            "InvalidSignatureException", f"signed for {service} in {region}, expected {SERVICE} in {settings.region}"
        )
    date = headers.get("X-Amz-Date", "")
    _check_time(date, day, settings.skew_s, now_s)
    signed = names.split(";")
    if missing := {"host", "x-amz-date"} - set(signed):
        raise Refused("InvalidSignatureException", f"the signature leaves out the header {sorted(missing)[0]}")
    aws = AWSRequest(request.method, f"https://{request.host}{request.path}", headers, request.body or b"")
    aws.context["timestamp"] = date
    _check_body(headers.get("X-Amz-Content-SHA256"), request.body)
    signer = _Recomputed(secret, region, signed)
    expected = signer.signature(signer.string_to_sign(aws, signer.canonical_request(aws)), aws)
    if not hmac.compare_digest(expected, signature):
        raise Refused("InvalidSignatureException", "the signature is not that of this request and this secret key")


def _check_time(date: str, day: str, skew_s: float, now_s: float) -> None:
    try:
        signed_s = timegm(strptime(date, "%Y%m%dT%H%M%SZ"))
    except ValueError:
        raise Refused("IncompleteSignatureException", f"X-Amz-Date is {date!r}, expected 20260102T030405Z") from None
    if not date.startswith(day) or abs(now_s - signed_s) > skew_s:
        raise Refused(
            "InvalidSignatureException", f"signed at {date}, more than {skew_s:g} s from now or on another day"
        )


def _check_body(claimed: str | None, body: bytes | None) -> None:
    """A hash that is sent along replaces the body in the signature, so it has to be right by itself."""
    if claimed is None or claimed in UNSIGNED[: 1 if body else 2]:
        return
    if body is None or hashlib.sha256(body).hexdigest() != claimed:
        raise Refused("InvalidSignatureException", "X-Amz-Content-SHA256 is not that of the body")
