"""Counting lines: tests that ask for it run at full speed, also in the workers of pytest-xdist."""

import sys

import pytest


@pytest.mark.no_cover
def test_nothing_is_counted_where_that_is_asked():
    assert "coverage" not in type(sys.gettrace()).__module__
