"""Answers API Gateway's question at a handshake: may this token open the WebSocket?"""

from __future__ import annotations

from typing import Any

from cloud import keys
from cloud.observability import logger
from cloud.tokens import BadToken

PURPOSE = "socket"
PARAMETER = "token"  # of the query string: a browser can set no headers on a WebSocket


def policy(event: dict[str, Any], secret_id: str, now_s: float) -> dict[str, Any]:
    """An IAM policy that allows or denies the connection; a denial's log line and context name the error."""
    token = (event.get("queryStringParameters") or {}).get(PARAMETER) or ""
    try:
        claims = keys.verified(secret_id, token, purpose=PURPOSE, now_s=now_s)
    except BadToken as bad:
        logger.info("refused: %s", bad, extra={"code": bad.code})
        return _answer("nobody", "Deny", event["methodArn"], {"error": bad.code})
    return _answer(
        claims.subject,
        "Allow",
        event["methodArn"],
        {"expires_s": str(claims.expires_s), "calls": ",".join(claims.calls)},
    )


def _answer(subject: str, effect: str, arn: str, context: dict[str, str]) -> dict[str, Any]:
    statement = {"Action": "execute-api:Invoke", "Effect": effect, "Resource": arn}
    return {
        "principalId": subject,
        "policyDocument": {"Version": "2012-10-17", "Statement": [statement]},
        "context": context,
    }
