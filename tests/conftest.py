"""Shared settings: Hypothesis runs the same examples everywhere, and never complains about a slow machine.

Counting lines makes Python two to three times as slow, whatever it runs: lines are counted while the package is loaded
and in tests that may come by new ones, not while tests are collected, and not in tests marked ``no_cover``.
"""

import importlib
import pkgutil

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "tightrope", derandomize=True, deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("tightrope")


def line_counter(config):
    """What counts lines in this process, if anything does."""
    return getattr(config.pluginmanager.getplugin("_cov"), "cov_controller", None)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session):
    """Stop the counter that pytest-cov starts in each worker before the one it means: it would run in every pause."""
    counter = line_counter(session.config)
    if hasattr(session.config, "workerinput") and counter is not None:
        counter.pause()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session):
    """Load every module of the package, counted, and collect the tests uncounted."""
    counter = line_counter(session.config)
    if counter is None or session.config.pluginmanager.hasplugin("dsession"):  # nothing counts, or workers collect
        return (yield)
    import tightrope

    for module in pkgutil.walk_packages(tightrope.__path__, "tightrope."):
        importlib.import_module(module.name)
    counter.pause()
    try:
        return (yield)
    finally:
        counter.resume()
