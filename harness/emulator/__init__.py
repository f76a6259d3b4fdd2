"""The stand-in bench, a process of its own that knows nothing of the rest of the harness."""
