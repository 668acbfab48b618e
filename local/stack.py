"""A handle on a running stack: its clients and what the template made, under the template's own names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from local import aws, deploy, emulator, state
from local.state import LocalError, State


@dataclass(frozen=True)
class Stack:
    """A stack that is up. `outputs` are the Outputs of template.yaml, by name."""

    state: State
    folder: Path  # where its state and logs lie

    @property
    def endpoint(self) -> str:
        """URL for any AWS client."""
        return self.state.endpoint

    @property
    def outputs(self) -> dict[str, str]:
        """Outputs of the CloudFormation stack."""
        return self.state.outputs

    @property
    def input_prefix(self) -> str:
        """What the key of a recording must begin with."""
        return self.state.parameters.get("InputPrefix", "")

    @property
    def api_url(self) -> str:
        """Base URL of the REST API for OpenAI's clients."""
        return f"{self.outputs['ApiUrl']}/v1"

    @property
    def api_key(self) -> str:
        """The API key that the template makes; empty where callers sign their requests instead."""
        if "ApiKeyId" not in self.outputs:
            return ""
        found = self.client("apigateway").get_api_key(apiKey=self.outputs["ApiKeyId"], includeValue=True)
        return str(found["value"])

    @property
    def page_url(self) -> str:
        """Address of the page, with the API key in the part that browsers keep to themselves."""
        return self.outputs["ConsoleUrl"] + (f"#key={self.api_key}" if self.api_key else "")

    def client(self, service: str) -> Any:
        """A boto3 client of the stack."""
        return _client(service, self.endpoint, self.state.region)

    def log(self) -> str:
        """Everything the emulator and its functions have printed."""
        return Path(self.state.log).read_text(errors="replace")

    def stop(self) -> None:
        """End the emulator and forget the stack: everything in it is gone."""
        emulator.stop(self.state.pid)
        (self.folder / "stack.json").unlink(missing_ok=True)

    def describe(self) -> dict[str, Any]:
        """Every endpoint, bucket, queue, table and function, ready for JSON."""
        lists: dict[str, Callable[[], list[str]]] = {
            "buckets": lambda: [b["Name"] for b in self.client("s3").list_buckets()["Buckets"]],
            "queues": lambda: self.client("sqs").list_queues().get("QueueUrls", []),
            "tables": lambda: self.client("dynamodb").list_tables()["TableNames"],
            "streams": lambda: self.client("kinesis").list_streams()["StreamNames"],
            "functions": lambda: [f["FunctionName"] for f in self.client("lambda").list_functions()["Functions"]],
        }
        return {
            "page": self.page_url,
            "endpoint": self.endpoint,
            "socket": self.outputs.get("SocketUrl", ""),
            "region": self.state.region,
            "pid": self.state.pid,
            "log": self.state.log,
            "state": str(self.folder),
            "api": {"url": self.api_url, "key": self.api_key},
            "outputs": self.outputs,
            **{name: listed() for name, listed in lists.items()},
        }


_client = cache(aws.client)


def find(folder: Path) -> Stack | None:
    """The stack that runs from `folder`, if one does."""
    found = state.load(folder)
    return Stack(found, folder) if found else None


def require(folder: Path) -> Stack:
    """The running stack, or an error that says how to start one."""
    stack = find(folder)
    if stack is None or not emulator.answers(stack.state.port):
        raise LocalError("no stack is up here: start one with `make run`, or `.venv/bin/python -m local up --detach`")
    return stack


def up(folder: Path, port: int | None, overrides: dict[str, str], note: Callable[[str], None]) -> Stack:
    """Start the emulator, deploy template.yaml into it and remember both; leaves nothing behind when it fails."""
    folder.mkdir(parents=True, exist_ok=True)
    port = emulator.choose_port(port)
    process = emulator.start(port, folder)
    try:
        made = State(process.pid, port, str(folder / "emulator.log"), emulator.REGION, overrides)
        made.save(folder)
        note("the embedded AWS")
        outputs = deploy.deploy(Stack(made, folder).client, overrides, note)
        made = replace(made, outputs=outputs)
        made.save(folder)
    except BaseException:
        emulator.stop(process.pid)
        (folder / "stack.json").unlink(missing_ok=True)
        raise
    return Stack(made, folder)
