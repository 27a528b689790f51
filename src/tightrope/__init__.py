"""tightrope: differential-privacy accounting in which every answer is a certified [lower, upper] with its proof.

>>> import tightrope as tr
>>> print(f"{tr.epsilon(tr.Approx(0.1, 0) * 50, delta=1e-6):.12f}")
3.172902734020
"""

from __future__ import annotations

__version__ = "0.1.0"

from tightrope.accounting.ask import advantage, delta, epsilon
from tightrope.accounting.calibrate import Calibration, calibrate
from tightrope.accounting.certificate import Check, check
from tightrope.accounting.claim import Claim
from tightrope.accounting.compare import Comparison, compare
from tightrope.accounting.gaussian_least import gdp
from tightrope.accounting.least import pure, renyi, tcdp, zcdp
from tightrope.accounting.profiles import profile
from tightrope.accounting.text import parse
from tightrope.accounting.tradeoff import tradeoff
from tightrope.accounting.training import dpsgd
from tightrope.errors import (
    BadParameter,
    BadText,
    NotCertified,
    RelationMismatch,
    TightropeError,
    Undecided,
    Unsupported,
)
from tightrope.mechanisms.above_threshold import AboveThreshold
from tightrope.mechanisms.base import Mechanism
from tightrope.mechanisms.composed import Parallel
from tightrope.mechanisms.discrete_gaussian import DiscreteGaussian
from tightrope.mechanisms.discrete_laplace import DiscreteLaplace
from tightrope.mechanisms.gaussian import Gaussian
from tightrope.mechanisms.laplace import Laplace
from tightrope.mechanisms.pair import GaussianPair
from tightrope.mechanisms.response import LeakyInput, LeakyRandomizedResponse, RandomizedResponse
from tightrope.mechanisms.selection import Exponential, NoisyMax, PermuteAndFlip
from tightrope.mechanisms.staircase import Staircase
from tightrope.mechanisms.stated import CDP, GDP, RDP, TCDP, ZCDP, Approx, Pure
from tightrope.mechanisms.table import Table
from tightrope.numerics.bound import Bound

__all__ = [
    "epsilon",
    "delta",
    "renyi",
    "tradeoff",
    "advantage",
    "profile",
    "pure",
    "zcdp",
    "tcdp",
    "gdp",
    "compare",
    "calibrate",
    "check",
    "parse",
    "dpsgd",
    "Gaussian",
    "Laplace",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "RandomizedResponse",
    "LeakyInput",
    "LeakyRandomizedResponse",
    "GaussianPair",
    "Table",
    "Exponential",
    "NoisyMax",
    "PermuteAndFlip",
    "AboveThreshold",
    "Staircase",
    "Pure",
    "Approx",
    "ZCDP",
    "TCDP",
    "CDP",
    "GDP",
    "RDP",
    "Parallel",
    "Bound",
    "Claim",
    "Check",
    "Comparison",
    "Calibration",
    "Mechanism",
    "TightropeError",
    "BadParameter",
    "BadText",
    "Unsupported",
    "RelationMismatch",
    "NotCertified",
    "Undecided",
]
