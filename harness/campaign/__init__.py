"""Whole-bench work that is no test run: fault campaign, shaker qualification, learning a map."""
