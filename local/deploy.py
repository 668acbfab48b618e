"""Create the stack of template.yaml in the emulator through CloudFormation, as `sam deploy` does in AWS."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from local import gateway, package, template
from local.state import ROOT, LocalError

STACK = "undertone"
ARTIFACTS = "undertone-artifacts"
PATIENCE_S = 120.0  # seconds for the whole stack; it takes a few
# What differs from AWS: where the models lie, how many cores there are, and what nobody wants to wait for.
PARAMETERS = {
    "ModelsDir": str(ROOT / "models" / "bundles"),
    "RetryDelaySeconds": "1",
    "MaxReceiveCount": "3",
    "Concurrency": "2",
    "SpeakSeconds": "1",  # the emulator takes the messages of a connection in turn: a cancel would wait for longer
    "WorkerImage": "none",  # live calls, whose worker is a process here: `python -m local.calls.live_worker`
}


def deploy(client: Callable[[str], Any], overrides: dict[str, str], note: Callable[[str], None]) -> dict[str, str]:
    """Package, upload and create everything; returns the stack's outputs. `note` is told of each step.

    client: service name -> boto3 client of the emulator.
    """
    source = template.read()
    s3, cloudformation = client("s3"), client("cloudformation")
    address = urlsplit(cloudformation.meta.endpoint_url).netloc
    parameters = check_parameters(source, {"EmulatorAddress": address} | overrides)
    s3.create_bucket(Bucket=ARTIFACTS)

    def put(key: str, data: bytes) -> str:
        s3.put_object(Bucket=ARTIFACTS, Key=key, Body=data)
        note(key.split("/", maxsplit=1)[0])
        return f"s3://{ARTIFACTS}/{key}"

    written = gateway.spelled_out(template.with_numbers(template.without_containers(source), parameters))
    body = json.dumps(package.point_at_zips(written, put))
    put("template/template.json", body.encode())
    cloudformation.create_stack(
        StackName=STACK,
        TemplateURL=f"{cloudformation.meta.endpoint_url}/{ARTIFACTS}/template/template.json",
        Parameters=[{"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()],
        Capabilities=["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"],
    )
    outputs = wait_for_outputs(cloudformation)
    gateway.set_responses(client("apigateway"), source, parameters)
    return outputs


def steps() -> int:
    """How many things `stack.up` notes: the emulator, a zip of each function and layer, the template."""
    source = template.read()
    kinds = ("AWS::Serverless::Function", "AWS::Serverless::LayerVersion")
    return 2 + sum(len(template.resources(source, kind)) for kind in kinds)


def check_parameters(source: template.Template, overrides: dict[str, str]) -> dict[str, str]:
    """The parameters to pass: this machine's and the caller's, each known to the template."""
    known = set(source.get("Parameters", {}))
    if unknown := sorted(set(overrides) - known):
        raise LocalError(f"template.yaml has no parameter {unknown[0]!r}: it has {', '.join(sorted(known))}")
    return {name: value for name, value in PARAMETERS.items() if name in known} | overrides


def wait_for_outputs(cloudformation: Any) -> dict[str, str]:
    """Outputs of the finished stack; a failed one raises with the resource and the reason."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        stack = cloudformation.describe_stacks(StackName=STACK)["Stacks"][0]
        if stack["StackStatus"] == "CREATE_COMPLETE":
            return {output["OutputKey"]: output["OutputValue"] for output in stack.get("Outputs", [])}
        if "IN_PROGRESS" not in stack["StackStatus"]:
            raise LocalError(f"template.yaml could not be deployed: {first_failure(cloudformation, stack)}")
        time.sleep(0.1)
    raise LocalError(f"template.yaml was not deployed within {PATIENCE_S:.0f} s")


def first_failure(cloudformation: Any, stack: dict[str, Any]) -> str:
    """Which resource failed first, and why."""
    events = cloudformation.describe_stack_events(StackName=STACK)["StackEvents"]
    for event in reversed(events):
        if event["ResourceStatus"].endswith("FAILED"):
            return f"{event['LogicalResourceId']}: {event.get('ResourceStatusReason', 'no reason given')}"
    return f"{stack['StackStatus']} {stack.get('StackStatusReason', '')}".strip()
