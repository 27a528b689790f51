"""A claim travels as JSON and is proved again by whoever receives it."""

import tightrope as tr

text = tr.epsilon(tr.Approx(0.1, 1e-8) * 50, delta=1e-6).to_json()
print(text)
print(tr.check(text))
print(tr.Claim.from_json(text).bibtex())
