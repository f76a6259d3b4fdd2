"""One device's protocol a file, bound by name from the rig file."""
