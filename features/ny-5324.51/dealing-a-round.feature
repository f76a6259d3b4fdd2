Feature: Dealing a round
  The order in which a round is dealt under subdivision (e): the call and the hand motion, the
  covered shaker and its three shakes, the dice uncovered, announced and entered, the losing wagers
  taken before the winning ones are paid, and the table cleared at last.

  Background:
    Given a table that was inspected and opened

  @ny.e.2 @ny.e.3 @ny.e.4 @ny.e.5 @ny.e.6 @ny.c.3 @needs-manual-shaker
  Scenario: A round with a manual shaker
    When a round begins
    And players place wagers on small, single-1
    And the dealer calls "no more bets"
    And the dealer shows by hand that no more bets are taken
    And the cover is put on the shaker
    And the dealer shakes it 3 times
    And the cover is taken off the shaker
    And the dice have come to rest
    And the value of each die is announced
    And the values are entered on the terminal
    And the losing wagers are collected
    And the winning wagers are paid
    And the table is cleared
    And the round ends
    Then nothing departed from the rules of dealing
    And exactly the winning areas were lit, and none after clearing
    And the round is settled

  @ny.a.4 @ny.e.2 @ny.e.3 @ny.e.4 @ny.e.5 @ny.e.6 @ny.c.3 @needs-automated-shaker @needs-opaque-cover
  Scenario: A round with an automated shaker under a cover
    When a round begins
    And players place wagers on small, single-1
    And the dealer calls "no more bets"
    And the dealer shows by hand that no more bets are taken
    And the cover is put on the shaker
    And the dealer activates the shaker
    And the cover is taken off the shaker
    And the dice have come to rest
    And the value of each die is announced
    And the values are entered on the terminal
    And the losing wagers are collected
    And the winning wagers are paid
    And the table is cleared
    And the round ends
    Then nothing departed from the rules of dealing
    And exactly the winning areas were lit, and none after clearing
    And the round is settled

  @ny.c.3
  Scenario: Wagers are settled by where they lie when the result is lit
    Then the operator confirms of the dealer that each wager is settled by where it lay when the dice rested and the result was lit
