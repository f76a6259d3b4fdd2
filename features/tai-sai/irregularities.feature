Feature: Irregularities
  A leaning die is settled by the supervisor's tap on the table and read again. A die on top of
  another makes the game void, and a new game begins with its own countdown.

  Background:
    Given a table that was inspected and opened

  @irregular @ts.4 @needs-puncher
  Scenario: A leaning die is tapped down and read
    When a round begins
    And the countdown starts
    And the countdown has ended
    And the dealer activates the shaker
    And the dice come to rest with one of them leaning
    Then no value is read from dice of which one is leaning
    When the game supervisor taps the table
    And the dice come to rest flat
    And the values are entered on the terminal
    Then the round ends as settled
    And exactly the winning areas were lit

  @irregular @ts.4 @needs-puncher
  Scenario: A die that still leans after the tap makes the game void
    When a round begins
    And the countdown starts
    And the countdown has ended
    And the dealer activates the shaker
    And the dice come to rest with one of them leaning
    And the game supervisor taps the table
    And the dice come to rest with one of them leaning
    Then no value is read from dice of which one is leaning
    And the round ends as void

  @irregular @ts.5 @needs-puncher
  Scenario: A die on top of another makes the game void
    When a round begins
    And the countdown starts
    And the countdown has ended
    And the dealer activates the shaker
    And the dice come to rest with one of them stacked
    Then no value is read from dice of which one is stacked
    And the round ends as void
    And all wagers are void and handed back
    And the operator confirms of the dealer that the game is declared void and its bets are returned
    When a round begins
    And the countdown starts
    Then nothing departed from the rules of dealing

  @irregular @ts.5 @needs-puncher
  Scenario: Dice that lie stacked are not entered
    When a round begins
    And the countdown starts
    And the countdown has ended
    And the dealer activates the shaker
    And the dice come to rest with one of them stacked
    And the dealer enters 2, 4 and 5 instead
    Then the departure from ts.5 is noticed, and no other

  @irregular @ts.3
  Scenario: A wrong value entered by the dealer is the dealer's error
    Given the dice lie at 1,2,3
    When a round begins
    And the dice have come to rest
    And the dealer enters 1, 2 and 4 instead
    Then the areas of 1,2,4 are lit and no other
    And the entry is told as an error of the dealer under ts.3
    When the values are entered on the terminal
    Then exactly the winning areas were lit

  @ts.3
  Scenario: A dealer may hesitate in the middle of an entry
    When 1 is entered, and 2 and 3 only after 1 second
    Then exactly the winning areas were lit
