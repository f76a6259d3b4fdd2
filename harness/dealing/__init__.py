"""Drives or watches one round: rig and vision in, a timeline of events out."""
