"""The operator's web page."""
