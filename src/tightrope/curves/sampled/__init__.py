"""Losses of sampled, shuffled and allocated mechanisms."""
