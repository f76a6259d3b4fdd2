Feature: Dealing a round with a covered shaker
  The round begins with the shake: a manual shaker is covered and shaken three times, a covered
  automated one is activated. Wagers may come until no more bets is called, and the call comes
  before the dice are revealed. Losing wagers go before winning ones are paid; clearing comes last.

  Background:
    Given a table that was inspected and opened

  @pa.b.1 @pa.c @pa.d @pa.e @pa.f @needs-manual-shaker
  Scenario: A round with a manual shaker
    When a round begins
    And the cover is put on the shaker
    And the dealer shakes it 3 times
    And players place wagers on small, single-1
    And the dealer calls "no more bets"
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

  @pa.b.2 @pa.c @pa.d @pa.e @pa.f @needs-automated-shaker @needs-opaque-cover
  Scenario: A round with a covered automated shaker
    When a round begins
    And the cover is put on the shaker
    And the dealer activates the shaker
    And players place wagers on small, single-1
    And the dealer calls "no more bets"
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

  @irregular @pa.c @needs-manual-shaker
  Scenario: A manual shaker uncovered before the call
    When a round begins
    And the cover is put on the shaker
    And the dealer shakes it 3 times
    And the cover is taken off the shaker
    Then the departure from pa.c is noticed, and no other

  @irregular @pa.c @needs-automated-shaker @needs-opaque-cover
  Scenario: An automated shaker uncovered before the call
    When a round begins
    And the cover is put on the shaker
    And the dealer activates the shaker
    And the cover is taken off the shaker
    Then the departure from pa.c is noticed, and no other

  @irregular @pa.b.1 @needs-manual-shaker
  Scenario: A manual shaker shaken twice only
    When a round begins
    And the cover is put on the shaker
    And the dealer shakes it 2 times
    And the dealer calls "no more bets"
    Then the departure from pa.b.1 is noticed, and no other

  @irregular @pa.b.2 @needs-automated-shaker @needs-opaque-cover
  Scenario: A covered automated shaker activated only after the call
    When a round begins
    And the cover is put on the shaker
    And the dealer calls "no more bets"
    And the dealer activates the shaker
    Then the departure from pa.b.2 is noticed, and no other
