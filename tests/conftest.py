"""Shared settings: Hypothesis runs the same examples everywhere, and never complains about a slow machine."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "tightrope", derandomize=True, deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("tightrope")
