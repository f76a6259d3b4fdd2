Feature: Equipment and layout
  What a table must have before it may be used: subdivision (a), and the wagers of subdivision (b)
  that its layout offers. What no sensor can see, the operator confirms; the answer is recorded as
  the operator's.

  @ny.a.1.i
  Scenario: Places at the table
    Then the operator confirms of the table that players have places on one side and the dealers opposite

  @ny.a.2.i
  Scenario: Name of the gaming facility
    Then the operator confirms of the layout that it bears the name or logo of the gaming facility

  @ny.a.2.ii
  Scenario: Areas for the wagers
    Then the operator confirms of the layout that it has a marked area for each wager

  @ny.a.2.iii
  Scenario: Odds on the layout
    Then the operator confirms of the layout that it shows the payout odds of each wager

  @ny.b
  Scenario: The wagers on offer
    Then the layout has an area for each wager of the rule book and no other
    And the operator confirms of the layout that it offers no further wager

  @ny.a.3
  Scenario: Approval of the shaker
    Then the operator confirms of the shaker that it is a sealed container tested and approved under Part 5318

  @ny.a.3.i @needs-opaque-cover
  Scenario: The cover hides the dice for as long as they are shaken
    Given a table that was inspected and opened
    And the dice can be read with the cover off
    When the cover is put on the shaker
    And the dealer shakes it 3 times
    Then no die was visible while the cover was on
    When the cover is taken off the shaker
    Then the dice can be read with the cover off

  @ny.a.3.ii
  Scenario: Seal of the shaker
    Then the operator confirms of the shaker that it is sealed or locked and its seal is unbroken

  @ny.a.3.iii
  Scenario: The shaker is secured
    Then the operator confirms of the shaker that it is secured to the table

  @ny.a.4
  Scenario: Approval of an automated shaker
    Then the operator confirms of the shaker that an automated one, if used, is tested and approved under Part 5318

  @ny.a.5
  Scenario: The three dice
    Given the dice can be read with the cover off
    Then the operator confirms of the dice that size, squareness and marking are as section 5322.11 says
