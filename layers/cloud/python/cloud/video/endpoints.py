"""Where a video stream's data is to be had: each API of Kinesis Video Streams has a host of its own, asked for once."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

from botocore.exceptions import ClientError
from speech.errors import BadInput, Transient

from cloud.clients import client

Api = Literal["PUT_MEDIA", "GET_MEDIA", "LIST_FRAGMENTS", "GET_MEDIA_FOR_FRAGMENT_LIST"]
_DENIED = ("AccessDeniedException", "NotAuthorizedException", "UnrecognizedClientException")
_GONE = ("ResourceNotFoundException",)
_WRONG = ("InvalidArgumentException", "InvalidSignatureException", "IncompleteSignatureException")


class NoStream(BadInput):
    """The stream is not there, or is no longer."""


class Forbidden(BadInput):
    """The service refuses the caller; the text names the permissions that the call needs."""


def named(stream: str) -> dict[str, str]:
    """A stream as the APIs want it, given its name or its ARN."""
    return {"StreamARN" if stream.startswith("arn:") else "StreamName": stream}


@cache
def data_endpoint(api: Api, stream: str) -> str:
    """URL of an API for a stream, kept for the life of the process; `forget` after the service has refused it."""
    try:
        answer = client("kinesisvideo").get_data_endpoint(**named(stream), APIName=api)
    except ClientError as error:
        raise refusal(error, "GetDataEndpoint", stream) from error
    return str(answer["DataEndpoint"])


def forget() -> None:
    """Ask for every endpoint anew: hosts can change."""
    data_endpoint.cache_clear()


def refusal(error: ClientError, operation: str, stream: str) -> BadInput | Transient:
    """An error of the service as one of ours."""
    code, text = error.response["Error"]["Code"], error.response["Error"].get("Message", "")
    return refused(code, text, operation, stream)


def refused(code: str, text: str, operation: str, stream: str) -> BadInput | Transient:
    """What an error code means for the caller; Transient for all that is not known to be lasting."""
    said = f"{operation} on {stream}: {code}{': ' + text if text else ''}"
    if code in _GONE:
        return NoStream(said)
    if code in _DENIED:
        needs = f"kinesisvideo:GetDataEndpoint and kinesisvideo:{operation}"
        return Forbidden(
            f"{said}; the role needs {needs} on the stream (and kms:Decrypt or kms:GenerateDataKey "
            "on its key), and the call must go to the host that GetDataEndpoint names for it"
        )
    return BadInput(said) if code in _WRONG else Transient(said)


def described(stream: str) -> dict[str, Any]:
    """StreamInfo of a stream."""
    try:
        return dict(client("kinesisvideo").describe_stream(**named(stream))["StreamInfo"])
    except ClientError as error:
        raise refusal(error, "DescribeStream", stream) from error
