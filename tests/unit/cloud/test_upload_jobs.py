"""The job of an upload by the API's form is known before the upload; any other key has a job for each version."""

from __future__ import annotations

import pytest
from cloud.recordings import Recording, upload_job_id

ID = "0123456789abcdef" * 2


def job(key: str, version: str) -> str:
    return Recording("bucket", key, "etag", version, "01", 1).job_id


@pytest.mark.parametrize("prefix", ["", "calls/"])
def test_every_version_of_a_form_s_key_is_one_job(prefix: str) -> None:
    key = f"{prefix}uploads/{ID}/a b+ü.wav"
    assert job(key, "1") == job(key, "2") == upload_job_id("bucket", key)
    assert job(key, "1") != job(f"{prefix}uploads/{ID}/other.wav", "1")


@pytest.mark.parametrize("key", ["a.wav", "uploads/a.wav", f"uploads/{ID[:-1]}/a.wav", f"uploads/{ID}/", f"u/{ID}/a"])
def test_other_keys_have_a_job_for_each_version(key: str) -> None:
    assert job(key, "1") != job(key, "2")
