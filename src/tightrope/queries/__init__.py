"""Queries people ask for: counts, sums, means, histograms, quantiles and best candidates, with exact noise."""
