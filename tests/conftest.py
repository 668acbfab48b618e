"""Before any test is collected: the variables that Powertools reads when `cloud.observability` is first imported.

Tests set the rest of a function's environment themselves; which file imports that module first is chance.
"""

from __future__ import annotations

import os

os.environ |= {
    "POWERTOOLS_SERVICE_NAME": "undertone",
    "POWERTOOLS_METRICS_NAMESPACE": "Undertone",
    "POWERTOOLS_TRACE_DISABLED": "true",
}
