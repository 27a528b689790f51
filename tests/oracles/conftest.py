"""Every truth begins with thirty digits, whatever the test before it left."""

import pytest
from mpmath import mp


@pytest.fixture(autouse=True)
def _thirty_digits():
    with mp.workdps(30):
        yield
