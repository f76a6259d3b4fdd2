"""Tosses to a decision about dice and shaker."""
