"""The stand-in bench, a process of its own that knows nothing of the rest of the harness.

From the table outwards: `terminal`, `firmware` and `lamps` are the table under test, `shaker`,
`dice_box` and `scene` the dice; `wiring` joins them to the `devices`, which speak the makers'
protocols over ptys and sockets; `control` and `desk` are the people; `faults` break any of it.
`clock` keeps the time of all. The bench is built from the rig file that the harness drives; its own
settings are in `options`.
"""
