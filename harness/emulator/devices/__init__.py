"""The bench's instruments as their makers built them: one server a device, over its own wire."""
