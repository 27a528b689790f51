"""A statement a privacy reviewer can sign: what ran, what is claimed, why, and how to check it again."""

from tightrope.reports.statement import Statement, report

__all__ = ["Statement", "report"]
