"""Thirty digits for every computation of a claim, and only here."""

import pytest
from mpmath import mp
from textbook import DIGITS


@pytest.fixture(autouse=True)
def _thirty_digits():
    with mp.workdps(DIGITS):
        yield
