"""Before any test is collected: the variables that Powertools reads when `cloud.observability` is first imported, and
how Hypothesis makes examples: as long as it takes, for how fast a machine is says nothing of our code.

Tests set the rest of a function's environment themselves; which file imports that module first is chance.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

os.environ |= {
    "POWERTOOLS_SERVICE_NAME": "undertone",
    "POWERTOOLS_METRICS_NAMESPACE": "Undertone",
    "POWERTOOLS_TRACE_DISABLED": "true",
}
settings.register_profile("untimed", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
