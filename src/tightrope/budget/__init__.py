"""Filters, odometers, the ledger and its stores."""
