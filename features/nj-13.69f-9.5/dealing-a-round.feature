Feature: Dealing a round
  No more bets is called before the shaker is shaken or activated. A manual shaker is covered for
  the shake and stays uncovered from then until the winners are paid; an automated one is never
  covered. Losing wagers go before winning ones are paid, and the lamps are cleared last.

  Background:
    Given a table that was inspected and opened

  @nj.c @nj.d.1 @nj.e @nj.f @nj.g @needs-manual-shaker
  Scenario: A round with a manual shaker
    When a round begins
    And players place wagers on small, single-1
    And the dealer calls "no more bets"
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

  @nj.c @nj.d.2 @nj.e @nj.f @nj.g @needs-automated-shaker
  Scenario: A round with an automated shaker
    When a round begins
    And players place wagers on small, single-1
    And the dealer calls "no more bets"
    And the dealer activates the shaker
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

  @nj.f @needs-automated-shaker @needs-no-cover
  Scenario: An automated shaker has no cover on it at any time
    When a round begins
    And the dealer calls "no more bets"
    And the dealer activates the shaker
    Then the dice can be read with the cover off
    And the operator confirms of the shaker that it stays uncovered at all times

  @irregular @nj.c @needs-automated-shaker
  Scenario: An automated shaker activated before the call
    When a round begins
    And the dealer activates the shaker
    Then the departure from nj.c is noticed, and no other

  @irregular @nj.c @needs-manual-shaker
  Scenario: A manual shaker shaken before the call
    When a round begins
    And the cover is put on the shaker
    And the dealer shakes it 3 times
    Then the departure from nj.c is noticed, and no other

  @irregular @nj.d.1 @needs-manual-shaker
  Scenario: A manual shaker shaken twice only
    When a round begins
    And the dealer calls "no more bets"
    And the cover is put on the shaker
    And the dealer shakes it 2 times
    And the cover is taken off the shaker
    Then the departure from nj.d.1 is noticed, and no other

  @irregular @nj.d.2 @needs-automated-shaker
  Scenario: An automated shaker activated by a player
    When a round begins
    And the dealer calls "no more bets"
    And the selected player activates the shaker
    Then the departure from nj.d.2 is noticed, and no other
