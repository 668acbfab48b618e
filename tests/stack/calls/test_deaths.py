"""Workers killed at twenty points of a call, by SIGKILL: every event is there, the same each time, and the files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from cloud.calls.call import Call
from cloud.calls.leases import LeaseTable
from cloud.clients import client
from cloud.video.getmedia import Start
from cloud.video.putmedia import PutMedia
from speech.text.transcript import to_text

from local.calls.resources import BUCKET
from tests.stack.calls import process, talk
from tests.stack.calls.test_live_worker import numbered
from tests.stack.calls.test_session import RECORDS, TRANSCRIPT
from tests.stack.calls.test_worker import NOW_S

DEATHS = 20


def test_a_call_outlives_twenty_workers(leases: LeaseTable, tmp_path: Path) -> None:
    name = "twenty-deaths"
    client("kinesisvideo").create_stream(StreamName=name, DataRetentionInHours=1)
    PutMedia.open(name, start_s=talk.BEGAN_S).finish(b"".join(talk.upload()))
    leases.add(Call(name, name, Start("PRODUCER_TIMESTAMP", timestamp_s=talk.BEGAN_S)), NOW_S)
    command = [sys.executable, "-m", "tests.stack.calls.mortal", name, "--deaths", str(DEATHS), "--seed", "1"]
    variables = process.environment(tmp_path)
    variables["PYTHONPATH"] += f":{process.ROOT}"
    done = subprocess.run(command, env=variables, stdout=subprocess.PIPE, text=True, check=True)
    assert f"{DEATHS} died, the last one ended with 0" in done.stdout, done.stdout
    events = process.Events(name)
    events.until("call_completed")
    assert numbered(events.all) == {(record["channel"], record["number"]): record for record in RECORDS}
    where = {"Bucket": BUCKET, "Key": f"transcripts/calls/{name}."}
    texts = {
        kind: client("s3").get_object(**where | {"Key": where["Key"] + kind})["Body"].read().decode()
        for kind in ("txt", "json")
    }
    assert texts["txt"] == to_text(TRANSCRIPT)
    words = [word.text for word in TRANSCRIPT.words()]
    assert [word["content"] for word in json.loads(texts["json"])["results"]["raw_words"]] == words
    assert leases.read(name)["reason"] == "contact"
    assert leases.read(name)["generation"] == DEATHS + 1
