"""What is on the bench: typed rig file, roles, drivers over public wires, locks."""
