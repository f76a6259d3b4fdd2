Feature: Dealing a game
  The dice tumble three times or more under the dome before players are called to bet. No more bets
  is called before the dome comes off. The result is announced from low to high with its total and
  entered with three keys; losing wagers go before winning ones are paid.

  Background:
    Given a table that was inspected and opened

  @cca.5.1 @cca.5.2 @cca.5.3 @cca.5.4 @cca.5.5 @needs-tumbler
  Scenario Outline: A game that the <person> starts
    When a round begins
    And the cover is put on the shaker
    And the <person> activates the shaker
    And the dealer calls "place your bets"
    And players place wagers on small, total-9
    And the dealer calls "no more bets"
    And the cover is taken off the shaker
    And the dice have come to rest
    And the values are announced from the lowest to the highest, and their total
    And the values are entered on the terminal
    And the losing wagers are collected
    And the winning wagers are paid
    And the round ends
    Then nothing departed from the rules of dealing
    And exactly the winning areas were lit
    And the round is settled

    Examples:
      | person          |
      | dealer          |
      | game supervisor |

  @cca.3.9
  Scenario: Wagers stand once no more bets is called
    Then the operator confirms of the dealer that no wager is placed, changed or withdrawn after no more bets

  @irregular @cca.3.9 @needs-tumbler
  Scenario: A wager placed after the call
    When a round begins
    And the cover is put on the shaker
    And the dealer activates the shaker
    And the dealer calls "place your bets"
    And the dealer calls "no more bets"
    And players place wagers on big
    Then the departure from cca.3.9 is noticed, and no other

  @cca.3.12
  Scenario: Wagers are settled by where they lie when the dome comes off
    Then the operator confirms of the dealer that each wager is settled by where it lay when the dome came off

  @cca.4.2
  Scenario: A wager outside the limits that nobody refused in time
    Then the operator confirms of the dealer that a wager outside the limits that was not refused before the dome came off is settled as any other

  @cca.5.6
  Scenario: Only those responsible touch the tumbler
    Then the operator confirms of the dealer that nobody but dealers and supervisors of the game touches the tumbler during play

  @irregular @cca.5.6 @needs-tumbler
  Scenario: A player starts the tumbler
    When a round begins
    And the cover is put on the shaker
    And the selected player activates the shaker
    Then the departure from cca.5.6 is noticed, and no other

  @irregular @cca.5.1 @needs-tumbler
  Scenario: Players called to bet before the dice have tumbled
    When a round begins
    And the cover is put on the shaker
    And the dealer calls "place your bets"
    Then the departure from cca.5.1 is noticed, and no other

  @irregular @cca.5.3 @needs-tumbler
  Scenario: A result entered before it is announced
    Given the dice lie at 1,2,4
    When a round begins
    And the dealer enters 1, 2 and 4 instead
    Then the departure from cca.5.3 is noticed, and no other
