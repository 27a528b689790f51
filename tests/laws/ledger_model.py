"""The ledger as it should be, in a few lines of dictionaries: what the real one is compared with, step by step."""

from __future__ import annotations

from fractions import Fraction


class Exceeded(Exception):
    """The model refuses for want of money."""


class Refused(Exception):
    """The model refuses for any other reason."""


class Model:
    def __init__(self):
        self.limit, self.spent, self.held = {}, {}, {}
        self.requests, self.reserved = {}, {}

    def create(self, budget, limit):
        if budget in self.limit:
            raise Refused
        self.limit[budget], self.spent[budget], self.held[budget] = limit, Fraction(0), Fraction(0)

    def _once(self, budget, request, body):
        """Whether this very request was entered before."""
        if budget not in self.limit:
            raise Refused
        if (budget, request) in self.requests:
            if self.requests[budget, request] != body:
                raise Refused
            return True
        return False

    def _take(self, budget, request, body, amount):
        if self.spent[budget] + self.held[budget] + amount > self.limit[budget]:
            raise Exceeded
        self.requests[budget, request] = body

    def charge(self, budget, request, amount, purpose):
        body = ("charge", amount, purpose)
        if not self._once(budget, request, body):
            self._take(budget, request, body, amount)
            self.spent[budget] += amount

    def reserve(self, budget, request, amount, purpose):
        body = ("reserve", amount, purpose)
        if not self._once(budget, request, body):
            self._take(budget, request, body, amount)
            self.held[budget] += amount
            self.reserved[budget, request] = (amount, None)

    def close(self, how, budget, request):
        amount, closed = self.reserved[budget, request]
        if closed is not None:
            if closed != how:
                raise Refused
            return
        self.held[budget] -= amount
        self.spent[budget] += amount if how == "commit" else 0
        self.reserved[budget, request] = (amount, how)

    def fits(self, budget, amount):
        return (self.limit[budget] - self.spent[budget] - self.held[budget]) // amount
