"""A secret by its reference, which may stand in settings where the secret itself may not."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field

from botocore.exceptions import BotoCoreError, ClientError

from cloud.clients import client
from cloud.replies.responder import Refused, Unavailable

KEPT_S = 300.0  # for which a secret is used without looking whether it was changed
LASTING = ("ResourceNotFoundException", "ParameterNotFound", "AccessDeniedException", "InvalidParameterException")


@dataclass(slots=True)
class Secret:
    """A secret of Secrets Manager (name or ARN; a string, or JSON with `key`), or a parameter of Systems Manager.

    A parameter is named by its ARN, or by its name, which begins with "/". Calling it gives the secret.
    """

    reference: str  # "": there is none
    _value: str = field(init=False, default="")
    _read_s: float = field(init=False, default=-KEPT_S)

    def __call__(self) -> str:
        """The secret; "" where there is none. Raises Refused or Unavailable."""
        if self.reference and time.monotonic() - self._read_s >= KEPT_S:
            try:
                self._value = _read(self.reference)
            except ClientError as error:
                code = str(error.response["Error"]["Code"])
                needs = "secretsmanager:GetSecretValue or ssm:GetParameter, and kms:Decrypt on its key"
                kind, hint = (Refused, f"; the role needs {needs}") if code in LASTING else (Unavailable, "")
                raise kind(f"secret {self.reference}: {code}{hint}") from error
            except BotoCoreError as error:
                raise Unavailable(f"secret {self.reference}: {error}") from error
            self._read_s = time.monotonic()
        return self._value


def _read(reference: str) -> str:
    if reference.startswith("/") or ":ssm:" in reference:
        answer = client("ssm").get_parameter(Name=reference, WithDecryption=True)
        return str(answer["Parameter"]["Value"])
    text = str(client("secretsmanager").get_secret_value(SecretId=reference)["SecretString"])
    try:
        record = json.loads(text)
    except ValueError:
        return text
    return str(record["key"]) if isinstance(record, dict) and "key" in record else text
