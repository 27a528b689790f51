"""Transforms of losses: E[e^{sL}] of every law, on complex balls and in floats."""
