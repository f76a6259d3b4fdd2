"""What must happen: dice, areas, rule books, settlement, procedure, the clause register."""
