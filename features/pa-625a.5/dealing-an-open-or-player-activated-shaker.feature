Feature: Dealing a round with an open or a player-activated shaker
  Where an automated shaker has no opaque cover, or a player activates it, all wagers are in and no
  more bets is called before it is activated: by the dealer, or by a selected player where the
  shaker is made for that.

  Background:
    Given a table that was inspected and opened

  @pa.g @pa.d @pa.e @pa.f @needs-automated-shaker @needs-no-cover
  Scenario: A round with an automated shaker without a cover
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

  @pa.g @pa.d @pa.e @pa.f @needs-player-activated-shaker @needs-no-cover
  Scenario Outline: A round with an open shaker that the <person> activates
    When a round begins
    And players place wagers on small, single-1
    And the dealer calls "no more bets"
    And the <person> activates the shaker
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

    Examples:
      | person          |
      | selected player |
      | dealer          |

  @pa.g @pa.d @pa.e @pa.f @needs-player-activated-shaker @needs-opaque-cover
  Scenario: A round with a covered shaker that a selected player activates
    When a round begins
    And players place wagers on small, single-1
    And the dealer calls "no more bets"
    And the cover is put on the shaker
    And the selected player activates the shaker
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

  @irregular @pa.g @needs-no-cover
  Scenario: An open shaker activated before the call
    When a round begins
    And the dealer activates the shaker
    Then the departure from pa.g is noticed, and no other

  @irregular @pa.g @needs-automated-shaker @needs-no-cover
  Scenario: A player activates a shaker that is not made for players
    When a round begins
    And the dealer calls "no more bets"
    And the selected player activates the shaker
    Then the departure from pa.g is noticed, and no other

  @irregular @pa.g @needs-player-activated-shaker
  Scenario: A wager placed after the call
    When a round begins
    And the dealer calls "no more bets"
    And players place wagers on big
    Then the departure from pa.g is noticed, and no other
