Feature: Limits of the entry device
  What the rule takes for granted of an entry device in working order, where the bench can try it:
  it forgets a half-made entry in time, refuses an entry that its interlock forbids, and neither
  keeps ghosts of a dip of its supply nor stays dark after a power cut.

  @ny.e.4
  Scenario: A half-made entry is forgotten in time
    When 4 is entered and nothing more for as long as the terminal may remember it
    And 1, 1 and 2 are entered on the terminal
    Then exactly the winning areas were lit

  @ny.e.4
  Scenario: An entry that the interlock forbids is refused
    When 1, 2 and 4 are entered while the interlock forbids it
    Then the terminal took none of it

  @ny.e.4
  Scenario: A dip of the supply leaves nothing behind
    When the supply dips while 1, 2 and 4 are lit
    Then no lamp is lit after the dip, and the next entry is taken whole

  @ny.e.4
  Scenario: The table comes back after a power cut
    When the supply is cut and given back
    Then the table takes an entry within its time
