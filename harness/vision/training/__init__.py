"""Makes the reader's weights: draws synthetic pictures of dice and trains on nothing else."""
