"""Hardware-in-the-loop test harness for Sic Bo (Tai Sai) tables."""

__version__ = "0.1.0"
