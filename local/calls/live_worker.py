"""`python -m local.calls.live_worker`: the worker of live calls as template.yaml has it in a container, as a process.

The embedded AWS has no Docker, so that the template's cluster, task and network are left out of it; the variables of
the task are given to the same entry point instead. Beside it, the endpoint of Kinesis Video Streams, whence calls come.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from local import deploy, stack, template
from local.kvs.background import Background
from local.kvs.command import PORT
from local.kvs.settings import Settings
from local.stack import Stack
from local.state import DEFAULT_FOLDER, ROOT, LocalError

APP = ROOT / "functions" / "live_worker" / "app.py"
CODE = [ROOT / "layers" / room / "python" for room in ("speech", "cloud")]
# The template's names of what the task refers to, as its outputs have them.
OUTPUTS = {"CallsQueue": "CallsQueueUrl"}


def main() -> int:
    """Work until Ctrl-C or SIGTERM; calls that are not over are handed to the next worker."""
    parser = argparse.ArgumentParser(prog="python -m local.calls.live_worker", description=__doc__)
    parser.add_argument("--state", type=Path, default=DEFAULT_FOLDER, help="folder of the stack's pid, port and log")
    parser.add_argument("--port", type=int, default=PORT, help="of the endpoint, the first of 4; 0: any free ones")
    options = parser.parse_args()
    state = options.state.resolve()
    try:
        current = stack.require(state)
    except LocalError as error:
        parser.exit(1, f"local: {error}\n")
    with Background(state / "kvs", Settings(region=current.state.region), options.port) as kvs:
        made = environment(current, state) | services(current, kvs)
        print("for producers:")
        for name in ("AWS_ENDPOINT_URL_KINESIS_VIDEO", "AWS_CA_BUNDLE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            print(f"  export {name}={made[name]}")
        begin = f"curl -H 'x-api-key: {current.api_key}' -d '{{\"stream\": \"NAME\"}}' {current.api_url}/calls"
        print(f"to begin a call:\n  {begin}", flush=True)
        with subprocess.Popen([sys.executable, str(APP)], env=os.environ | made, start_new_session=True) as process:
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, lambda *_: process.send_signal(signal.SIGTERM))
            return process.wait()


def services(current: Stack, kvs: Background) -> dict[str, str]:
    """Where AWS is."""
    return {
        "AWS_ENDPOINT_URL": current.endpoint,
        "AWS_ENDPOINT_URL_KINESIS_VIDEO": kvs.url,
        "AWS_CA_BUNDLE": kvs.ca,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
    }


def environment(current: Stack, folder: Path) -> dict[str, str]:
    """Variables of the task in template.yaml, with the names that they have in a running stack.

    What differs: where code and models lie, the file that is touched, and the address of the WebSocket.
    """
    parameters = deploy.PARAMETERS | current.state.parameters
    resources = {name: current.outputs.get(output, "") for name, output in OUTPUTS.items()}
    return task(parameters, current.outputs | resources) | {
        "AWS_DEFAULT_REGION": current.state.region,
        "MODELS_DIR": parameters["ModelsDir"],
        "HEARTBEAT_FILE": str(folder / "heartbeat"),
        "CONNECTIONS_URL": current.outputs["SocketUrl"].replace("ws://", "http://", 1),
    }


def task(parameters: dict[str, str], resources: Mapping[str, str]) -> dict[str, str]:
    """The same, given parameters that are not as the template has them, and the names of resources.

    Not from the template: where AWS, models and the file that is touched are.
    """
    source = template.read()
    known = {name: str(given.get("Default", "")) for name, given in source["Parameters"].items()} | parameters
    [task] = template.resources(source, "AWS::ECS::TaskDefinition").values()
    found = dict[str, str]()
    for variable in task["ContainerDefinitions"][0]["Environment"]:
        value = variable["Value"]
        if isinstance(value, dict) and "Ref" in value:
            name = str(value["Ref"])
            value = known.get(name) or resources.get(name, "")
        found[variable["Name"]] = value
    return found | {
        "POWERTOOLS_SERVICE_NAME": f"{deploy.STACK}-live-worker",
        "PYTHONPATH": os.pathsep.join(map(str, CODE)),
        "OMP_NUM_THREADS": "1",
    }


if __name__ == "__main__":
    sys.exit(main())
