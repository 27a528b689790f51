"""Exact noise: given uniform random bits, every output has exactly the stated law. Proofs in docs/noise.md."""
