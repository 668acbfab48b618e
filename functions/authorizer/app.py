"""Called by API Gateway before a WebSocket is opened: a policy that allows it for a good token and denies it otherwise.

A denied client sees HTTP 403; the log says why. Trouble with Secrets Manager is raised, and the client sees HTTP 500.
"""

from __future__ import annotations

import time
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from cloud.observability import logger, tracer
from cloud.settings import AuthorizerSettings, load
from cloud.sockets.authorizer import policy

settings = load(AuthorizerSettings)


@logger.inject_lambda_context(clear_state=True)
@tracer.capture_lambda_handler(capture_response=False)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Answers with an IAM policy."""
    return policy(event, settings.token_secret, time.time())
