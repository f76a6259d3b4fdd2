Feature: Entry terminal
  The terminal stands on the table and has keys numbered 1 to 6. Each must work at every place of an
  entry, and three of them enter the result.

  @cca.2.6 @cca.5.4
  Scenario Outline: The keys of <result> in this order
    Given the dice lie at <result>
    When what the dice show is entered on the terminal
    Then exactly the winning areas were lit

    Examples:
      | result |
      | 1,2,3  |
      | 2,3,1  |
      | 3,1,2  |
      | 4,5,6  |
      | 5,6,4  |
      | 6,4,5  |

  @cca.2.6
  Scenario: The terminal on the table
    Then the operator confirms of the terminal that it is attached to the table top and its keys are numbered 1 to 6

  @cca.5.4
  Scenario Outline: One key pressed more than once, as in <result>
    Given the dice lie at <result>
    When what the dice show is entered on the terminal
    Then exactly the winning areas were lit

    Examples:
      | result |
      | 5,5,2  |
      | 3,3,3  |

  @cca.5.4
  Scenario: A dealer may hesitate in the middle of an entry
    When 1 is entered, and 2 and 3 only after 1 second
    Then exactly the winning areas were lit
