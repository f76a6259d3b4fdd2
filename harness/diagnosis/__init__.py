"""Observations to a located cause or a set of candidates; smallest test sets."""

from harness.diagnosis.diagnose import Diagnosis, diagnose
from harness.diagnosis.facts import RigFacts
from harness.diagnosis.next_test import NextTest

__all__ = ["Diagnosis", "NextTest", "RigFacts", "diagnose"]
