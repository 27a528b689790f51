"""Products of very many complex balls that do not widen."""

from __future__ import annotations

from collections.abc import Sequence

from tightrope.numerics.balls import Ball, ComplexBall

__all__ = ["Products"]

_BLOCK = 8  # factors


class Products:
    """Of many numbers, node by node. Each product of two complex balls may widen them by √2; so only a few are taken at
    a time, and the logarithms of these added."""

    def __init__(self, number: int) -> None:
        self._logs, self._others = [ComplexBall(0)] * number, [ComplexBall(1)] * number
        self._block, self._taken = [ComplexBall(1)] * number, 0

    def take(self, row: Sequence[ComplexBall]) -> None:
        """One number for each node."""
        self._block = [a * b for a, b in zip(self._block, row, strict=True)]
        self._taken += 1
        if self._taken == _BLOCK:
            self._close()

    def _close(self) -> None:
        for k, value in enumerate(self._block):
            if not value.abs_lower() > 0:
                self._others[k] *= value
            elif value.real > 0:
                self._logs[k] += value.log()
            else:  # away from the cut of the logarithm
                self._logs[k] += (-value).log() + ComplexBall(0, Ball.pi())
        self._block, self._taken = [ComplexBall(1)] * len(self._logs), 0

    def values(self) -> list[ComplexBall]:
        """The products."""
        self._close()
        return [log.exp() * other for log, other in zip(self._logs, self._others, strict=True)]
