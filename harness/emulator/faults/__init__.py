"""What can go wrong on the bench, one small file for each part; `catalogue` finds and arms it."""
