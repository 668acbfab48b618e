"""The control plane and its signatures, as boto3 sees them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import boto3
import pytest
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import ClientError

from local.kvs.background import Background
from local.kvs.settings import Settings
from tests.stack.kvs import media
from tests.stack.kvs.conftest import create


@pytest.fixture
def client(kvs: Background) -> Any:
    return boto3.client("kinesisvideo", config=Config(retries={"max_attempts": 0}))


def refused(call: Callable[..., Any], **arguments: Any) -> tuple[str, int]:
    """(error code, HTTP status) of a call that must fail."""
    with pytest.raises(ClientError) as caught:
        call(**arguments)
    return caught.value.response["Error"]["Code"], caught.value.response["ResponseMetadata"]["HTTPStatusCode"]


def test_a_stream_is_created_described_and_deleted(client: Any) -> None:
    arn = client.create_stream(StreamName="one", DataRetentionInHours=2, MediaType="audio/x", Tags={"a": "b"})[
        "StreamARN"
    ]
    told = client.describe_stream(StreamARN=arn)["StreamInfo"]
    assert (told["StreamName"], told["Status"], told["DataRetentionInHours"]) == ("one", "ACTIVE", 2)
    assert abs(told["CreationTime"].timestamp() - int(arn.rsplit("/")[-1]) / 1000) < 0.01
    assert refused(client.create_stream, StreamName="one") == ("ResourceInUseException", 400)
    assert refused(client.delete_stream, StreamARN=arn, CurrentVersion="old") == ("VersionMismatchException", 400)
    client.delete_stream(StreamARN=arn, CurrentVersion=told["Version"])
    assert refused(client.describe_stream, StreamName="one") == ("ResourceNotFoundException", 404)


def test_streams_are_listed_page_by_page(client: Any) -> None:
    for name in ("list-b", "list-a", "list-c", "other"):
        client.create_stream(StreamName=name)
    condition = {"ComparisonOperator": "BEGINS_WITH", "ComparisonValue": "list-"}
    pages = client.get_paginator("list_streams").paginate(
        StreamNameCondition=condition, PaginationConfig={"PageSize": 2}
    )
    assert [[s["StreamName"] for s in page["StreamInfoList"]] for page in pages] == [["list-a", "list-b"], ["list-c"]]


def test_tags_and_retention_change(client: Any) -> None:
    name = create(hours=1)
    client.tag_stream(StreamName=name, Tags={"k": "v", "l": "w"})
    client.untag_stream(StreamName=name, TagKeyList=["l"])
    assert client.list_tags_for_stream(StreamName=name)["Tags"] == {"k": "v"}
    for operation, by, hours in (("INCREASE", 2, 3), ("DECREASE", 3, 0)):
        info = client.describe_stream(StreamName=name)["StreamInfo"]
        client.update_data_retention(
            StreamName=name,
            CurrentVersion=info["Version"],
            Operation=f"{operation}_DATA_RETENTION",
            DataRetentionChangeInHours=by,
        )
        changed = client.describe_stream(StreamName=name)["StreamInfo"]
        assert changed["DataRetentionInHours"] == hours
        assert changed["Version"] != info["Version"]


def test_each_api_has_an_endpoint_and_serves_nothing_else(client: Any, kvs: Background, stream: str) -> None:
    apis = ("PUT_MEDIA", "GET_MEDIA", "LIST_FRAGMENTS", "GET_MEDIA_FOR_FRAGMENT_LIST")
    urls = [client.get_data_endpoint(StreamName=stream, APIName=api)["DataEndpoint"] for api in apis]
    assert len(set(urls)) == 3  # both archive calls have one host
    wrong = boto3.client("kinesis-video-media", endpoint_url=kvs.url)
    asked = {"StreamName": stream, "StartSelector": {"StartSelectorType": "NOW"}}
    assert refused(wrong.get_media, **asked) == ("AccessDeniedException", 403)
    assert refused(client.get_data_endpoint, StreamName=stream, APIName="GET_CLIP") == ("NotImplementedException", 501)


def test_what_boto3_would_not_send_is_refused_too(client: Any) -> None:
    assert refused(client.describe_stream) == ("InvalidArgumentException", 400)
    unchecked = boto3.client("kinesisvideo", config=Config(parameter_validation=False))
    code, _ = refused(unchecked.create_stream, StreamName=7)
    assert code == "InvalidArgumentException"
    assert refused(client.create_signaling_channel, ChannelName="c")[0] == "NotImplementedException"


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"aws_secret_access_key": "wrong"}, "InvalidSignatureException"),
        ({"aws_access_key_id": "stranger"}, "UnrecognizedClientException"),
        ({"region_name": "eu-central-1"}, "InvalidSignatureException"),
        ({"config": Config(signature_version=UNSIGNED)}, "MissingAuthenticationTokenException"),
    ],
)
def test_signatures_are_checked(kvs: Background, changed: dict[str, Any], code: str) -> None:
    keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test", "region_name": "us-east-1"} | changed
    assert refused(boto3.client("kinesisvideo", **keys).list_streams)[0] == code


def test_a_session_token_is_part_of_the_signature(kvs: Background) -> None:
    client = boto3.client(
        "kinesisvideo", aws_access_key_id="test", aws_secret_access_key="test", aws_session_token="t o/k+en=="
    )
    assert "StreamInfoList" in client.list_streams()


def test_an_old_signature_is_refused(start: Callable[..., Background]) -> None:
    late = start(Settings(), now=lambda: 1.0)
    assert refused(boto3.client("kinesisvideo", endpoint_url=late.url).list_streams)[0] == "InvalidSignatureException"


def test_too_many_calls_are_throttled(start: Callable[..., Background]) -> None:
    start(Settings(), monotonic=lambda: 1.0)
    client = boto3.client("kinesisvideo", config=Config(retries={"max_attempts": 0}))
    stream = create()
    for _ in range(5):
        client.get_data_endpoint(StreamName=stream, APIName="GET_MEDIA")
    found = refused(client.get_data_endpoint, StreamName=stream, APIName="GET_MEDIA")
    assert found == ("ClientLimitExceededException", 400)


def test_the_certificate_is_that_of_an_authority_which_stays(start: Callable[..., Background]) -> None:
    first, second = start(Settings()), start(Settings())
    assert first.ca == second.ca
    assert "StreamInfoList" in boto3.client("kinesisvideo", endpoint_url=first.url, verify=second.ca).list_streams()


def test_without_trust_there_is_no_connection(kvs: Background) -> None:
    from botocore.exceptions import SSLError

    with pytest.raises(SSLError, match="certificate verify failed"):
        boto3.client("kinesisvideo", verify=True, config=Config(retries={"max_attempts": 0})).list_streams()


def test_media_of_one_stream_is_not_found_in_another(stream: str) -> None:
    media.put(stream, 0, 1000)
    listed = media.client(other := create(), "kinesis-video-archived-media", "LIST_FRAGMENTS")
    assert listed.list_fragments(StreamName=other)["Fragments"] == []
