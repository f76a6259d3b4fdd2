Feature: Irregular dice and entries
  The section says nothing of dice that have no reading, and nothing of a wrong entry. So no value
  is guessed, and a wrong entry is told as the error of the person who made it.

  Background:
    Given a table that was inspected and opened

  @irregular @pa.d
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

  @irregular @pa.d
  Scenario: A wrong value entered by the dealer is the dealer's error
    Given the dice lie at 1,2,3
    When a round begins
    And the dice have been read and announced
    And the dealer enters 1, 2 and 4 instead
    Then the areas of 1,2,4 are lit and no other
    And the entry is told as an error of the dealer under pa.d
    When the table is cleared
    And the values are entered on the terminal
    And the table is cleared
    Then exactly the winning areas were lit

  @pa.d
  Scenario: A further key does no more than the table's maker says
    When 1, 2 and 3 are entered on the terminal and then a further 5
    Then the further key did what the table's maker says

  @pa.d
  Scenario: A dealer may hesitate in the middle of an entry
    When 1 is entered, and 2 and 3 only after 1 second
    Then exactly the winning areas were lit
