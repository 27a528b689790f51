"""Certificates of many claims as plain data, to be forged."""

import copy
import json
from collections.abc import Mapping

import tightrope as tr
from laws.registered import COMBINED, FIRST, answers


class Found(Mapping):
    """Answers by name, each sought when it is first looked at: every process collects all tests, and runs few."""

    def __init__(self, questions):
        self._questions, self._found = questions, {}

    def __getitem__(self, name):
        if name not in self._found:
            self._found[name] = self._questions[name]()
        return self._found[name]

    def __iter__(self):
        return iter(self._questions)

    def __len__(self):
        return len(self._questions)


def plain(claims):
    """The certificates of these claims as plain data."""
    return Found({name: lambda name=name: json.loads(claims[name].to_json()) for name in claims})


MECHANISMS = [
    *FIRST,
    *(m * 4 for m in FIRST[:4]),
    *COMBINED[:11],
    tr.Gaussian(1).poisson(0.1),
    tr.Gaussian(1).without_replacement(10, 100),
]


def certificates():
    """Names and claims."""
    for m in MECHANISMS[::5]:
        for name, claim in answers(m, "epsilon", "delta", "renyi", "pure", "zcdp", "gdp", "advantage"):
            yield f"{name} of {m}", claim


CLAIMS = dict(certificates())
DATA = {name: json.loads(claim.to_json()) for name, claim in CLAIMS.items()}


def confirmed(data):
    """Whether check confirms this; reading errors and refusals are no confirmation, anything else is a fault."""
    try:
        found = tr.check(json.dumps(data))
    except tr.TightropeError:
        return False
    assert isinstance(found, tr.Check)
    assert bool(found) == (not found.problems)
    return bool(found)


def changed(data, **fields):
    """A copy with other fields."""
    new = copy.deepcopy(data)
    new.update(fields)
    return new


def with_witness(data, **fields):
    """A copy with another witness."""
    new = copy.deepcopy(data)
    new["witness"].update(fields)
    return new


def understated(claim, share=1e-4):
    """A false statement: an upper end below what is proved of the dominating pair, and no lower end."""
    false = claim.computed.lower * (1 - share)
    return changed(json.loads(claim.to_json()), upper=false, lower=0.0, tight=False, computed=[0.0, false])
