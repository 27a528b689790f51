"""Pictures of what is true of a mechanism: one Vega-Lite definition for files, notebooks and web pages.

>>> from tightrope import Gaussian, plotting
>>> picture = plotting.tradeoff(Gaussian(sigma=1), points=5)
>>> picture.title
'Trade-off curve'
"""

from tightrope.plotting.against_orders import renyi
from tightrope.plotting.against_steps import steps
from tightrope.plotting.attacker import profile, tradeoff
from tightrope.plotting.calibrated import calibration, noise
from tightrope.plotting.figure import Figure
from tightrope.plotting.of_claims import of_claim

__all__ = ["Figure", "profile", "tradeoff", "renyi", "steps", "noise", "calibration", "of_claim"]
