"""Frames to readings: dice, lamps, motion, quality gates, calibration. Pure functions of arrays."""
