"""Finite sums and closed forms: compositions whose profile needs no contour."""
