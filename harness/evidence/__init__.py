"""Journal, seal, verify, replay, reports, traceability, history."""
