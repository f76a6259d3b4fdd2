"""Observations to a located cause or a set of candidates; smallest test sets."""
