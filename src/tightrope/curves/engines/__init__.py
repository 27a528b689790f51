"""Profiles that are computed by a numerical engine."""
