"""The certificate of the endpoint: an authority of its own, kept in a folder, so that clients can trust it again."""

from __future__ import annotations

import ssl
from pathlib import Path

import trustme

NAMES = ("127.0.0.1", "localhost")


def authority(folder: Path) -> Path:
    """The file that clients trust (AWS_CA_BUNDLE), made when there is none yet; the authority's key lies beside it."""
    certificate, key = folder / "ca.pem", folder / "ca.key"
    if not (certificate.is_file() and key.is_file()):
        folder.mkdir(parents=True, exist_ok=True)
        made = trustme.CA(organization_name="undertone local endpoint")
        key.touch(mode=0o600)
        made.private_key_pem.write_to_path(str(key))
        made.cert_pem.write_to_path(str(certificate))
    return certificate


def context(folder: Path) -> ssl.SSLContext:
    """TLS of a server on this machine, certified by the authority of `folder`."""
    certificate = authority(folder)
    known = trustme.CA.from_pem(certificate.read_bytes(), (folder / "ca.key").read_bytes())
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    known.issue_cert(*NAMES).configure_cert(made)
    return made
