Feature: Irregular dice and entries
  The rule says nothing of dice that have no reading, and nothing of a wrong entry. So the harness
  never guesses a value, and a wrong entry is told as what it is: an error of the person who made
  it, not a fault of the equipment.

  Background:
    Given a table that was inspected and opened

  @irregular @ny.e.4
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

  @irregular @ny.e.4
  Scenario: A wrong value entered by the dealer is the dealer's error
    Given the dice lie at 1,2,3
    When a round begins
    And the dice have been read and announced
    And the dealer enters 1, 2 and 4 instead
    Then the areas of 1,2,4 are lit and no other
    And the entry is told as an error of the dealer under ny.e.4
    When the table is cleared
    And the values are entered on the terminal
    And the table is cleared
    Then exactly the winning areas were lit
