"""The trials of a calibration: what one value of the parameter costs, estimated or certified, each found once."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from tightrope.accounting.claim import Claim
from tightrope.errors import BadParameter, NotCertified
from tightrope.mechanisms.base import Mechanism
from tightrope.numerics.exact import exact, near

Maker = Callable[[Fraction], Mechanism]
_MOST = 150  # trials of one calibration: a user's function may be anything


class Trials:
    """Costs of the mechanisms that ``make`` gives. ``question`` certifies one, ``rough`` estimates it or gives None."""

    def __init__(
        self,
        make: Maker,
        question: Callable[[Mechanism], Claim],
        rough: Callable[[Mechanism], float | None],
        target: Fraction,
    ) -> None:
        self._make, self._question, self._rough, self.target = make, question, rough, target
        self._made: dict[Fraction, Mechanism | None] = {}
        self._claims: dict[Fraction, Claim] = {}
        self._costs: dict[Fraction, float] = {}
        self._spent, self._distrusted = 0, False
        self.whole = False

    def _spend(self) -> None:
        self._spent += 1
        if self._spent > _MOST:
            raise NotCertified("the calibrated value", f"{_MOST} trials did not close in on it")

    def _mechanism(self, x: Fraction) -> Mechanism | None:
        if x not in self._made:
            try:
                made: object = self._make(x)
            except BadParameter:
                made = None
            else:
                if not isinstance(made, Mechanism):
                    raise BadParameter("mechanism", made, "the function to calibrate must return a mechanism")
            self._made[x] = made
        return self._made[x]

    def accepts(self, x: Fraction) -> bool:
        """Whether the mechanism exists at x."""
        return self._mechanism(x) is not None

    def claim(self, x: Fraction) -> Claim:
        """The certified cost at x, which must be accepted."""
        if x not in self._claims:
            self._spend()
            mechanism = self._mechanism(x)
            assert mechanism is not None
            self._claims[x] = self._question(mechanism)
        return self._claims[x]

    def cost(self, x: Fraction) -> float:
        """About the cost at x, which must be accepted."""
        if x not in self._costs:
            self._spend()
            mechanism = self._mechanism(x)
            assert mechanism is not None
            rough = None if self._distrusted else self._rough(mechanism)
            self._costs[x] = self.claim(x).upper if rough is None else rough
        return self._costs[x]

    def meets(self, x: Fraction) -> bool:
        """Whether the target is certified to be met at x."""
        upper = self.claim(x).upper
        return math.isfinite(upper) and Fraction(upper) <= self.target

    def distrust(self) -> None:
        """From now on every cost is a certified one."""
        self._distrusted = True
        self._costs.clear()

    def height(self, x: Fraction) -> float:
        """About ln(cost/target), positive where the target is missed; of a certified cost the sign is exact."""
        cost, target = self.cost(x), near(self.target)
        if math.isinf(cost) or not cost > 0 or not target > 0:
            height = -math.inf if cost <= target else math.inf
        else:
            height = math.log(cost) - math.log(target)
        if x not in self._claims:
            return height
        return min(height, 0.0) if self.meets(x) else max(height, 5e-324)

    def number(self, x: float) -> Fraction:
        """A value near x that is short to write, whole if it must be."""
        if self.whole:
            return Fraction(max(round(min(x, 1e17)), 1))
        return exact("x", f"{min(max(x, 1e-300), 1e300):.12g}")
