"""How the service says no: an error's name, its HTTP status and a sentence."""

from __future__ import annotations

STATUS = {
    "AccessDeniedException": 403,
    "ClientLimitExceededException": 400,
    "ConnectionLimitExceededException": 400,
    "IncompleteSignatureException": 400,
    "InvalidArgumentException": 400,
    "InvalidSignatureException": 403,
    "MissingAuthenticationTokenException": 403,
    "NotImplementedException": 501,
    "ResourceInUseException": 400,
    "ResourceNotFoundException": 404,
    "UnknownOperationException": 404,
    "UnrecognizedClientException": 403,
    "VersionMismatchException": 400,
}


class Refused(Exception):
    """A request is answered with an error; `name` is one of STATUS."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name, self.message, self.status = name, message, STATUS[name]
