"""Arithmetic: exact numbers, balls, bounds, certified search. Nothing here knows what privacy is."""
