"""Every random bit string to a depth: the exact chance of each outcome of a sampler, and what is still open."""

from collections import defaultdict
from fractions import Fraction

from tightrope.noise.entropy import Source


class MoreBits(Exception):
    """The script ended while a sampler wanted more bits."""

    def __init__(self, wanted):
        self.wanted = wanted


class Scripted(Source):
    """Hands out the bits of one string, first bit first."""

    name = "script"

    def __init__(self, string, length):
        self.string, self.left = string, length

    def block(self, size):
        return self.bits(8 * size).to_bytes(size, "little")

    def bits(self, count):
        if count > self.left:
            raise MoreBits(count - self.left)
        self.left -= count
        return (self.string >> self.left) & ((1 << count) - 1)


def chances(sampler, depth):
    """({outcome: chance}, chance still open): all strings that ``sampler(source)`` reads, up to ``depth`` bits."""
    found, undecided = defaultdict(Fraction), Fraction(0)
    waiting = [(0, 0)]
    while waiting:
        string, length = waiting.pop()
        try:
            found[sampler(Scripted(string, length))] += Fraction(1, 1 << length)
        except MoreBits as more:
            longer = length + more.wanted
            if longer > depth:
                undecided += Fraction(1, 1 << length)
            else:
                waiting += [(string << more.wanted | tail, longer) for tail in range(1 << more.wanted)]
    return dict(found), undecided
