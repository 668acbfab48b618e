"""Find the browser that the page is tested in: `python3.11 -m local.browser` says where it is, or how to get it.

It is the system's own: nothing is downloaded for it. Runs under the system's Python, so it imports the standard library
only.
"""

from __future__ import annotations

import os
import shutil
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome")
MISSING = (
    "Chromium is missing, in which tests/browser tries the page: apt install chromium, "
    "or say where it is: CHROMIUM=/path/to/chromium"
)


def find() -> str | None:
    """Path of the browser, or None."""
    return next(filter(None, map(shutil.which, (os.environ.get("CHROMIUM", ""), *NAMES))), None)


if __name__ == "__main__":
    found = find()
    print(found or MISSING, file=sys.stdout if found else sys.stderr)
    raise SystemExit(0 if found else 1)
