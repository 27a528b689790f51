"""Rényi moments of sampled mechanisms."""
