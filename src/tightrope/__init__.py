"""tightrope: differential-privacy accounting in which every answer is a certified [lower, upper] with its proof.

>>> import tightrope as tr
>>> print(f"{tr.epsilon(tr.Approx(0.1, 0) * 50, delta=1e-6):.12f}")
3.172902734020
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Where each public name lives: it is loaded when first used. A new name is one line here and one below.
_HOMES = {
    "epsilon": "accounting.ask",
    "delta": "accounting.ask",
    "renyi": "accounting.least",
    "tradeoff": "accounting.tradeoff",
    "advantage": "accounting.ask",
    "profile": "accounting.profiles",
    "pure": "accounting.least",
    "zcdp": "accounting.least",
    "tcdp": "accounting.least",
    "gdp": "accounting.gaussian_least",
    "compare": "accounting.compare",
    "calibrate": "accounting.calibrate",
    "steps": "accounting.calibrate",
    "Accountant": "accounting.accountant",
    "check": "accounting.certificate",
    "parse": "accounting.text",
    "dpsgd": "accounting.training",
    "samplers": "accounting.training",
    "report": "reports.statement",
    "count": "queries.totals",
    "sum": "queries.totals",
    "mean": "queries.totals",
    "histogram": "queries.histogram",
    "quantile": "queries.quantile",
    "argmax": "queries.choice",
    "split": "queries.budgets",
    "frequencies": "queries.local",
    "Release": "queries.release",
    "Gaussian": "mechanisms.gaussian",
    "Laplace": "mechanisms.laplace",
    "DiscreteGaussian": "mechanisms.discrete_gaussian",
    "DiscreteLaplace": "mechanisms.discrete_laplace",
    "RandomizedResponse": "mechanisms.response",
    "LeakyInput": "mechanisms.response",
    "LeakyRandomizedResponse": "mechanisms.response",
    "GaussianPair": "mechanisms.pair",
    "Table": "mechanisms.table",
    "Exponential": "mechanisms.selection",
    "NoisyMax": "mechanisms.selection",
    "PermuteAndFlip": "mechanisms.selection",
    "AboveThreshold": "mechanisms.above_threshold",
    "Staircase": "mechanisms.staircase",
    "Pure": "mechanisms.stated",
    "Approx": "mechanisms.stated",
    "ZCDP": "mechanisms.stated",
    "TCDP": "mechanisms.stated",
    "CDP": "mechanisms.stated",
    "GDP": "mechanisms.stated",
    "RDP": "mechanisms.stated",
    "Parallel": "mechanisms.composed",
    "Bound": "numerics.bound",
    "Claim": "accounting.claim",
    "Check": "accounting.certificate",
    "Comparison": "accounting.compare",
    "Calibration": "accounting.calibrate",
    "Mechanism": "mechanisms.base",
    "TightropeError": "errors",
    "BadParameter": "errors",
    "BadText": "errors",
    "Unsupported": "errors",
    "RelationMismatch": "errors",
    "NotCertified": "errors",
    "Undecided": "errors",
    "BudgetExceeded": "errors",
    "LedgerError": "errors",
    "Filter": "budget.filters",
    "Odometer": "budget.odometer",
    "Ledger": "budget.ledger",
    "Receipt": "budget.entries",
}
__all__ = list(_HOMES)

if TYPE_CHECKING:  # the same names for type checkers and editors; a test holds the two equal
    from tightrope.accounting.accountant import Accountant as Accountant
    from tightrope.accounting.ask import advantage as advantage
    from tightrope.accounting.ask import delta as delta
    from tightrope.accounting.ask import epsilon as epsilon
    from tightrope.accounting.calibrate import Calibration as Calibration
    from tightrope.accounting.calibrate import calibrate as calibrate
    from tightrope.accounting.calibrate import steps as steps
    from tightrope.accounting.certificate import Check as Check
    from tightrope.accounting.certificate import check as check
    from tightrope.accounting.claim import Claim as Claim
    from tightrope.accounting.compare import Comparison as Comparison
    from tightrope.accounting.compare import compare as compare
    from tightrope.accounting.gaussian_least import gdp as gdp
    from tightrope.accounting.least import pure as pure
    from tightrope.accounting.least import renyi as renyi
    from tightrope.accounting.least import tcdp as tcdp
    from tightrope.accounting.least import zcdp as zcdp
    from tightrope.accounting.profiles import profile as profile
    from tightrope.accounting.text import parse as parse
    from tightrope.accounting.tradeoff import tradeoff as tradeoff
    from tightrope.accounting.training import dpsgd as dpsgd
    from tightrope.accounting.training import samplers as samplers
    from tightrope.budget.entries import Receipt as Receipt
    from tightrope.budget.filters import Filter as Filter
    from tightrope.budget.ledger import Ledger as Ledger
    from tightrope.budget.odometer import Odometer as Odometer
    from tightrope.errors import BadParameter as BadParameter
    from tightrope.errors import BadText as BadText
    from tightrope.errors import BudgetExceeded as BudgetExceeded
    from tightrope.errors import LedgerError as LedgerError
    from tightrope.errors import NotCertified as NotCertified
    from tightrope.errors import RelationMismatch as RelationMismatch
    from tightrope.errors import TightropeError as TightropeError
    from tightrope.errors import Undecided as Undecided
    from tightrope.errors import Unsupported as Unsupported
    from tightrope.mechanisms.above_threshold import AboveThreshold as AboveThreshold
    from tightrope.mechanisms.base import Mechanism as Mechanism
    from tightrope.mechanisms.composed import Parallel as Parallel
    from tightrope.mechanisms.discrete_gaussian import DiscreteGaussian as DiscreteGaussian
    from tightrope.mechanisms.discrete_laplace import DiscreteLaplace as DiscreteLaplace
    from tightrope.mechanisms.gaussian import Gaussian as Gaussian
    from tightrope.mechanisms.laplace import Laplace as Laplace
    from tightrope.mechanisms.pair import GaussianPair as GaussianPair
    from tightrope.mechanisms.response import LeakyInput as LeakyInput
    from tightrope.mechanisms.response import LeakyRandomizedResponse as LeakyRandomizedResponse
    from tightrope.mechanisms.response import RandomizedResponse as RandomizedResponse
    from tightrope.mechanisms.selection import Exponential as Exponential
    from tightrope.mechanisms.selection import NoisyMax as NoisyMax
    from tightrope.mechanisms.selection import PermuteAndFlip as PermuteAndFlip
    from tightrope.mechanisms.staircase import Staircase as Staircase
    from tightrope.mechanisms.stated import CDP as CDP
    from tightrope.mechanisms.stated import GDP as GDP
    from tightrope.mechanisms.stated import RDP as RDP
    from tightrope.mechanisms.stated import TCDP as TCDP
    from tightrope.mechanisms.stated import ZCDP as ZCDP
    from tightrope.mechanisms.stated import Approx as Approx
    from tightrope.mechanisms.stated import Pure as Pure
    from tightrope.mechanisms.table import Table as Table
    from tightrope.numerics.bound import Bound as Bound
    from tightrope.queries.budgets import split as split
    from tightrope.queries.choice import argmax as argmax
    from tightrope.queries.histogram import histogram as histogram
    from tightrope.queries.local import frequencies as frequencies
    from tightrope.queries.quantile import quantile as quantile
    from tightrope.queries.release import Release as Release
    from tightrope.queries.totals import count as count
    from tightrope.queries.totals import mean as mean
    from tightrope.queries.totals import sum as sum
    from tightrope.reports.statement import report as report


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tightrope' has no attribute {name!r}")
    value = getattr(import_module(f"tightrope.{_HOMES[name]}"), name)
    globals()[name] = value  # from now on an ordinary attribute
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
