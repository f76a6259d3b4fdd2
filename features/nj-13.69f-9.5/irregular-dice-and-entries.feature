Feature: Irregular dice and entries
  The section says nothing of dice that have no reading, and nothing of a wrong entry. So no value
  is guessed, and a wrong entry is told as the error of the person who made it.

  Background:
    Given a table that was inspected and opened

  @irregular @nj.e
  Scenario Outline: A <pose> die is not given a value
    When a round begins
    And the dice come to rest with one of them <pose>
    Then no value is read from dice of which one is <pose>
    And the operator is asked for a ruling on the <pose> die
    And the round ends without a result

    Examples:
      | pose    |
      | leaning |
      | stacked |

  @irregular @nj.e @needs-manual-shaker
  Scenario: A wrong value entered after a shake is the dealer's error
    When a round begins
    And the dealer calls "no more bets"
    And the cover is put on the shaker
    And the dealer shakes it 3 times
    And the cover is taken off the shaker
    And the dice come to rest flat
    And the value of each die is announced
    And the dealer enters 2, 4 and 6 instead
    Then the areas of 2,4,6 are lit and no other
    And the entry is told as an error of the dealer under nj.e
    When the table is cleared
    And the values are entered on the terminal
    And the table is cleared
    Then exactly the winning areas were lit

  @irregular @nj.e @needs-automated-shaker
  Scenario: A wrong value entered after an activation is the dealer's error
    When a round begins
    And the dealer calls "no more bets"
    And the dealer activates the shaker
    And the dice come to rest flat
    And the value of each die is announced
    And the dealer enters 2, 4 and 6 instead
    Then the areas of 2,4,6 are lit and no other
    And the entry is told as an error of the dealer under nj.e
    When the table is cleared
    And the values are entered on the terminal
    And the table is cleared
    Then exactly the winning areas were lit

  @nj.e
  Scenario: A further key does no more than the table's maker says
    When 1, 2 and 3 are entered on the terminal and then a further 5
    Then the further key did what the table's maker says

  @nj.e
  Scenario: A dealer may hesitate in the middle of an entry
    When 1 is entered, and 2 and 3 only after 1 second
    Then exactly the winning areas were lit
