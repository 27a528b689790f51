"""The search behind ``calibrate``: estimates lead to the boundary, then both of its sides are certified."""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from itertools import pairwise

from tightrope.accounting.calibrate_trials import LARGEST, Trials
from tightrope.errors import NotCertified
from tightrope.numerics.effort import affords, allowed, left
from tightrope.numerics.exact import exact, near
from tightrope.numerics.many_roots import through

Sides = tuple[Fraction, Fraction | None]  # a value that meets the target, and one beyond that does not, if there is one

_SEARCH, _PART = 0.8, 0.5  # of the work, for the search; of the rest, for each of two values that it did not certify
_RELATIVE = 5e-7  # how close both sides are at least
_SHARES = (1e-7, 1e-7, 1e-7, 2e-7, 3e-7, 5e-7, 5e-7, 5e-7)  # how close they are, round by round
_FAR = 1  # so many times that close: then both sides are not certified yet
_WRONG, _ENOUGH = 0.7, 1.2e6  # nats by which a claim with too little work is off; units that are no such excuse
_THROUGH, _APART = 4, 1e-5  # points, for a curve that leads to the boundary, and how far they are apart at least
_FURTHER, _WIDE = 16, 0.5  # times, from a side; logarithms of sides so far apart are halved
_NEARBY = 1e-4  # from a certified cost so near, the estimates are corrected well
_SAME = 1e-7  # nats between costs that say nothing
_WHOLE = Fraction(1, 10**13)  # of whole numbers so large that costs do not tell them apart
_ABOUT = 0.1  # nats by which estimates may be off that tell that there is no boundary
_CLEAR = 1.0  # nats from the target, where a claim is likely to tell although it has little work
_STEPS = (2.0, 8.0)  # times, from the last value seen, where none is clear
_LONG = 2.0  # nats that a line promises of a step, for doubts
_FLAT = 0.1  # nats between costs that seem to be the same, or of a share of a step's gain that do
_SHORTER = 3  # steps tried, each half as long
_OFF = 0.5  # likewise of the height between two sides, for a step between them
_LADDER = (2.0, 4.0, 16.0, 256.0, 1e5, 1e8, 1e15, 1e30, 1e60, 1e120, 1e200, 1e300)
_STARTS = tuple(10.0 ** (sign * k) for k in (0, 1, 2, 3, 5, 8, 15, 30, 100, 300) for sign in (1, -1))


def boundary(trials: Trials) -> Sides:
    """The boundary value on the side that meets the target, and the value certified to miss it; None if the
    parameter ends first. Where the work is spent before they are close, the closest two that are certified."""
    try:
        with allowed(_SEARCH * left()):
            return _boundary(trials)
    except NotCertified:
        known = trials.certified() or _far_apart(trials)
        if known is None:
            raise
        return _halved(trials, *known)


def _far_apart(trials: Trials) -> tuple[Fraction, Fraction] | None:
    """Two certified values where the search has certified none on one side: clear of the target, or far out."""
    heights = trials.uncorrected()
    cheapest = sorted(heights, key=lambda x: heights[x])
    if trials.concluded or len(cheapest) < 2:
        return None
    rising = cheapest[0] < cheapest[-1]
    for met in (True, False):
        clear = [x for x in cheapest if (heights[x] < -_CLEAR if met else heights[x] > _CLEAR)]
        end, sign = (max if rising != met else min)(cheapest), 1 if rising != met else -1
        steps = [trials.number(near(end) * factor**sign) for factor in _STEPS]
        for x in (*(clear[-1:] if met else clear[:1]), *steps):
            with suppress(NotCertified):
                if not trials.has_claim(met) and trials.accepts(x):
                    with allowed((1 if x == steps[-1] else _PART) * left()):
                        trials.claim(x)
    return trials.certified()


def _halved(trials: Trials, good: Fraction, bad: Fraction) -> tuple[Fraction, Fraction]:
    """The same two, as much closer as the work that was kept allows. A claim that tells less than the one before, for
    want of work, ends it."""
    with suppress(NotCertified):
        while abs(good - bad) > _RELATIVE * good:
            x = trials.number(math.sqrt(good) * math.sqrt(bad))
            if not min(good, bad) < x < max(good, bad) or not trials.accepts(x):
                break
            if trials.meets(x):
                good = x
            elif trials.misses(x) or not trials.misses(bad):
                bad = x
            else:
                break
    return good, bad


def _boundary(trials: Trials) -> Sides:
    good, bad = _bracket(trials)
    for share in _SHARES:
        if bad is None:
            break
        good, bad = _closed(trials, good, bad, share)
        if _certified(trials, good, bad, share):
            return _rounded(trials, good, bad)
        good, bad = trials.closest(rising=good < bad) or _bracket(trials)
    if bad is None and trials.meets(good) and trials.dearest(good):
        return good, None
    trials.distrust()  # the estimates are not those of the certified route
    good, bad = _bracket(trials)
    return (good, None) if bad is None else _rounded(trials, *_closed(trials, good, bad, _RELATIVE))


def _certified(trials: Trials, good: Fraction, bad: Fraction, share: float) -> bool:
    """Whether both sides are. Where a certified cost shows the estimates to be off, they are corrected first."""
    if not trials.certified_near(good, _NEARBY):
        before = trials.height(good)
        trials.claim(good)
        if trials.height(good) - before > _WRONG and not affords(_ENOUGH):
            raise NotCertified("the calibrated value", f"too little work is left to certify {near(good):.6g}")
        if abs(trials.height(good) - before) > _FAR * share:
            return False
    return trials.meets(good) and not trials.meets(bad)


def _rounded(trials: Trials, good: Fraction, bad: Fraction) -> tuple[Fraction, Fraction]:
    """A short decimal between the two is tried: many boundaries are such numbers, and then they are found exactly."""
    for digits in range(1, 7):
        x = exact("x", f"{near(good):.{digits}g}")
        if min(good, bad) < x < max(good, bad):
            return (x, bad) if trials.meets(x) else (good, x)
    return good, bad


# Both sides of the boundary, far apart


def _bracket(trials: Trials) -> Sides:
    start = next((x for x in map(trials.number, _STARTS) if trials.accepts(x)), None)
    if start is None:
        raise NotCertified("the calibrated value", "the mechanism accepts none of the values tried, 1e-300 to 1e300")
    trials.whole = trials.whole or (trials.accepts(start + 1) and not trials.accepts(start + Fraction(1, 2)))
    seen = {start: trials.height(start)}
    ends: dict[int, Fraction] = {}
    for factor in _LADDER:
        for sign in _ways(seen, ends):
            x = _unseen(trials, trials.number(_further(near(start) * factor**sign, seen, sign)), seen, sign)
            if x <= 0 or not trials.accepts(x):
                ends[sign] = x
            else:
                seen.update([_stepped(trials, x, seen, sign)])
        good, bad = [x for x in seen if seen[x] <= 0], [x for x in seen if seen[x] > 0]
        if good and bad:
            return min(((g, b) for g in good for b in bad), key=lambda pair: abs(math.log(pair[0] / pair[1])))
    return _at_an_end(trials, seen, ends)


def _ways(seen: dict[Fraction, float], ends: dict[int, Fraction]) -> list[int]:
    """Up or down, whichever leads to the boundary; both while that is not known."""
    ways = [sign for sign in (1, -1) if sign not in ends]
    finite = sorted((x, height) for x, height in seen.items() if math.isfinite(height))
    if len(finite) < 2 or abs(finite[0][1] - finite[-1][1]) < _SAME:
        return ways if len(seen) > 1 or not finite else ways[:1]
    falls, missed = finite[-1][1] < finite[0][1], finite[0][1] > 0
    return [sign for sign in ways if (sign > 0) == (falls == missed)]


def _further(rung: float, seen: dict[Fraction, float], sign: int) -> float:
    """A little past where a line through the last two points leads, in logarithms; the next rung if there is none."""
    points = sorted(((math.log(x), height) for x, height in seen.items()), reverse=sign > 0)[:2]
    if len(points) < 2 or not all(math.isfinite(height) for _, height in points) or points[0][1] == points[1][1]:
        return rung
    (u, here), (before, there) = points
    step = -1.1 * here * (u - before) / (here - there)
    longest = 3 * abs(u - before) + 2
    return math.exp(min(u + sign * min(max(sign * step, 0.02), longest), 700.0))


def _stepped(trials: Trials, x: Fraction, seen: dict[Fraction, float], sign: int) -> tuple[Fraction, float]:
    """The step to x and the height there. A long one that does not cross the target may lead where estimates are
    wrong: a shorter one that gains more is taken instead, and where costs seem to be flat a certified one tells."""
    height = trials.height(x)
    points = sorted(((math.log(y), h) for y, h in seen.items()), reverse=sign > 0)[:2]
    if len(points) < 2 or not all(math.isfinite(h) for _, h in (*points, (0.0, height))):
        return x, height
    (u, here), (before, there) = points
    gain, hoped, place = height - here, (here - there) / (u - before) * (math.log(x) - u), math.log(x)
    if here * hoped >= 0 or here * height < 0 or (gain / hoped >= 0 and abs(hoped) < _LONG):
        return x, height
    for _ in range(_SHORTER):
        place = (u + place) / 2
        y = trials.number(math.exp(place))
        if y in seen or not trials.accepts(y):
            break
        nearer = trials.height(y)
        beyond = (nearer - height) * math.copysign(1.0, hoped)
        if beyond > _FLAT:
            trials.forget(x)
            return y, nearer
        if beyond < -_FLAT * max(abs(gain), 1.0) and gain / hoped > 0:
            return x, height
    return x, trials.doubt(x)


def _unseen(trials: Trials, x: Fraction, seen: dict[Fraction, float], sign: int) -> Fraction:
    """Of whole numbers, one that is further than all that were seen."""
    if not trials.whole:
        return x
    return max(x, min(max(seen) + 1, LARGEST)) if sign > 0 else min(x, min(seen) - 1)


def _at_an_end(trials: Trials, seen: dict[Fraction, float], ends: dict[int, Fraction]) -> Sides:
    """All values seen are on one side: the boundary is where the parameter itself ends, or there is none."""
    missed = min(seen.values()) > 0
    endless = 1 not in ends and seen[max(seen)] >= seen[min(seen)]  # what is dearer, or as dear, goes on
    if not ends or (not missed and endless):
        return _none(trials, seen)
    lasts = {}
    for sign, refused in sorted(ends.items(), reverse=True):
        known = max(seen) if sign > 0 else min(seen)
        last = _last_accepted(trials, known, refused)
        lasts[last] = trials.height(last)
        if (seen[known] > 0) != (lasts[last] > 0):
            return (last, known) if seen[known] > 0 else (known, last)
    if missed:
        return _none(trials, {**seen, **lasts})
    return max(lasts, key=lambda last: lasts[last]), None  # of two that meet it, the dearer one


def _none(trials: Trials, seen: dict[Fraction, float]) -> Sides:
    """There is no boundary, if certified costs say so where it is nearest by estimates and at both ends. Where they
    say that estimates are off, all is sought again without these."""
    missed, off = min(seen.values()) > 0, False
    for x in (min(seen, key=lambda x: abs(seen[x])), min(seen), max(seen)):
        height = trials.doubt(x)
        off = off or not (height == seen[x] or abs(height - seen[x]) < _ABOUT)
    if off:
        trials.distrust()
        return _bracket(trials)
    costs = [trials.cost(x) for x in seen]
    reach = f"values from {near(min(seen)):.6g} to {near(max(seen)):.6g} cost {min(costs):.6g} to {max(costs):.6g}"
    trials.concluded = True
    if min(costs) == math.inf:
        reach += ". If the target is an ε without a δ, it asks for pure DP, which Gaussian noise never has: state delta"
    problem = "no value meets" if missed else "there is no boundary, every value meets"
    raise NotCertified("the calibrated value", f"{problem} the target {near(trials.target):.6g}: {reach}")


def _last_accepted(trials: Trials, accepted: Fraction, refused: Fraction) -> Fraction:
    """The end of what the mechanism accepts."""
    last = None  # where no double lies between, nothing changes any more
    while (accepted, refused) != last and abs(accepted - refused) > (1 if trials.whole else _RELATIVE / 4 * accepted):
        last, middle = (accepted, refused), trials.number(near(accepted + refused) / 2)
        accepted, refused = (middle, refused) if trials.accepts(middle) else (accepted, middle)
    return accepted


# Closing in


def _closed(trials: Trials, good: Fraction, bad: Fraction, share: float) -> tuple[Fraction, Fraction]:
    """Both sides closer together than ``share`` of their size, or neighbours: curves in logarithms, kept between."""
    seen, trial, inside = trials.heights(), 0, share
    while abs(good - bad) > (max(Fraction(1), _WHOLE * good) if trials.whole else share * good):
        low, high = sorted((math.log(good), math.log(bad)))
        u = (low + high) / 2
        root = _crossing([(math.log(x), height) for x, height in seen.items()]) if trial % 6 < 5 else None
        if root is not None and low <= root <= high:
            # Past the root by less than the two sides may be apart, so that the far side closes in as well.
            nearest = min(seen, key=lambda x: abs(math.log(x) - root))
            past = 0.4 * share * (1 if (seen[nearest] > 0) == (good > bad) else -1)
            u = min(max(root + past, low + 0.3 * share), high - 0.3 * share)
        elif root is not None and high - low < _WIDE:
            # A side is off by a little: it is just inside, or further and further from there.
            u = min(low + inside, u) if root < low else max(high - inside, u)
            inside *= _FURTHER
        x = trials.number(math.exp(u))
        if trials.whole:
            x = min(max(x, min(good, bad) + 1), max(good, bad) - 1)
        elif not min(good, bad) < x < max(good, bad):
            x = (good + bad) / 2
        seen[x] = _between(trials, x, (good, seen[good]), (bad, seen[bad]))
        good, bad = (x, bad) if seen[x] <= 0 else (good, x)
        trial += 1
    return good, bad


def _between(trials: Trials, x: Fraction, one: tuple[Fraction, float], other: tuple[Fraction, float]) -> float:
    """The height at x; by its certified cost where the estimate is far from a line between two sides far apart."""
    height, span = trials.height(x), other[1] - one[1]
    if not _LONG < abs(span) < math.inf:
        return height
    part = math.log(x / one[0]) / math.log(other[0] / one[0])
    return trials.doubt(x) if abs((height - one[1]) / span - part) > _OFF else height


def _crossing(points: list[tuple[float, float]]) -> float | None:
    """Where a curve through the points that are nearest to height 0 crosses it: the place as a polynomial of the
    height. None where these do not rise or fall all the way. Of points side by side one is taken: what the others are
    off by would bend the curve."""
    nearest: list[tuple[float, float]] = []
    for place, height in sorted(points, key=lambda point: abs(point[1])):
        if math.isfinite(height) and all(abs(place - other) > _APART for other, _ in nearest):
            nearest.append((place, height))
    for number in range(min(len(nearest), _THROUGH), 1, -1):
        chosen = sorted(nearest[:number])
        heights = [height for _, height in chosen]
        if all(a < b for a, b in pairwise(heights)) or all(a > b for a, b in pairwise(heights)):
            return through([(height, place) for place, height in chosen], 0.0)
    return None
