"""Workers that die by SIGKILL at random points, one after the other, until the call is over.

    python -m tests.stack.calls.mortal CALL --deaths 20 --seed 1

A point is a request to a service, before it is sent or behind its answer: between any two of them all is in memory.
Each worker is a process, forked from this one, which has loaded everything; prints how many died, and the call's end.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
from typing import Any

from botocore.endpoint import Endpoint
from cloud.calls.leases import LeaseTable
from cloud.calls.outlet import Outlet
from cloud.calls.watcher_table import WatcherTable
from cloud.calls.watchers import Watchers
from cloud.calls.worker import Worker
from cloud.clients import client
from cloud.observability import logger
from cloud.settings import LiveWorkerSettings, load
from cloud.sockets.client_side import ClientSide

from local.calls.resources import TABLE
from tests.stack.calls import talk
from tests.stack.calls.conftest import LEASE_S
from tests.stack.calls.test_worker import NOW_S, SETTINGS

LATEST = 14  # requests that a worker may live through


def die(chance: random.Random) -> None:
    """Kill this process at a request to come."""
    send, left, behind = Endpoint.make_request, chance.randrange(3, LATEST), chance.random() < 0.5

    def counted(self: Endpoint, *arguments: Any) -> Any:
        nonlocal left
        left -= 1
        if left == 0 and not behind:
            os.kill(os.getpid(), signal.SIGKILL)
        answer = send(self, *arguments)
        if left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

    Endpoint.make_request = counted


def live(call_id: str, number: int) -> None:
    """Work until the call is over; what is told goes where a real worker's results go."""
    settings = load(LiveWorkerSettings)
    watchers = Watchers(WatcherTable(settings.watcher_table), ClientSide(settings.connections_url))
    leases, now_s = LeaseTable(TABLE, LEASE_S), NOW_S + number * (LEASE_S + 1)
    worker = Worker(
        SETTINGS, talk.RECOGNIZER, leases, Outlet(settings, watchers), f"mortal-{number}", clock=lambda: now_s
    )
    while not worker.held:
        worker.turn()
    while worker.held:
        worker.turn()
    os._exit(0)


def main() -> None:
    """One worker after the other."""
    parser = argparse.ArgumentParser()
    parser.add_argument("call")
    parser.add_argument("--deaths", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    arguments = parser.parse_args()
    logger.setLevel("ERROR")
    for service in ("dynamodb", "s3", "kinesis", "events", "kinesisvideo"):
        client(service)  # none of them is connected yet
    chance, deaths = random.Random(arguments.seed), 0
    while True:
        pid = os.fork()
        if pid == 0:
            if deaths < arguments.deaths:
                die(chance)
            live(arguments.call, deaths)
        _, status = os.waitpid(pid, 0)
        if os.WIFEXITED(status):
            print(f"{deaths} died, the last one ended with {os.WEXITSTATUS(status)}", flush=True)
            return
        assert os.WTERMSIG(status) == signal.SIGKILL
        deaths += 1
        chance.seed(f"{arguments.seed} {deaths}")


if __name__ == "__main__":
    main()
