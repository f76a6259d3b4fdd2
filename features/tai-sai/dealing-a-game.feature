Feature: Dealing a game
  A countdown opens the game and bets are taken while it runs; nothing is called. Once it has ended
  the dealer presses the button and the puncher tosses the dice. They rest, their numbers are keyed
  in, and the monitor shows the winning bets with lights.

  Background:
    Given a table that was inspected and opened

  @ts.1 @ts.2 @ts.3 @needs-puncher
  Scenario: A game from the countdown to the lights
    When a round begins
    And the countdown starts
    And players place wagers on small, total-9
    And the countdown has ended
    And the dealer activates the shaker
    And the dice have come to rest
    And the values are entered on the terminal
    And the round ends
    Then nothing departed from the rules of dealing
    And exactly the winning areas were lit
    And the round is settled

  @ts.1 @needs-puncher
  Scenario: The countdown is as long as it is set
    When a round begins
    And the countdown starts
    And the countdown has ended
    Then the countdown lasted as long as it is set

  @irregular @ts.1 @needs-puncher
  Scenario: A bet placed before the countdown
    When a round begins
    And players place wagers on big
    Then the departure from ts.1 is noticed, and no other

  @ts.2 @needs-puncher
  Scenario: The button does nothing while the countdown runs
    When a round begins
    And the countdown starts
    And the dealer presses the button shortly before the countdown ends
    Then the table did not toss the dice

  @irregular @ts.2 @needs-puncher
  Scenario: A bet placed after the countdown
    When a round begins
    And the countdown starts
    And the countdown has ended
    And players place wagers on big
    Then the departure from ts.2 is noticed, and no other

  @ts.intro
  Scenario: Three dice in the jar
    Given the dice can be read with the cover off
    Then the operator confirms of the shaker that it is a jar with three dice
