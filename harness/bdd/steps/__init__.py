"""The vocabulary of the features: few steps, on roles of a bench, never on devices.

Each module is a pytest plugin of its own; `MODULES` names them all.
"""

MODULES = (
    "countdown",
    "dealing",
    "equipment",
    "inspection",
    "irregular",
    "limits",
    "payouts",
    "power",
    "results",
    "settlement",
    "terminal",
)
