Feature: Opening inspection
  Before a table opens for gaming, the floorperson makes sure that its entry device is in working
  order: at the least, three values are entered and every winning area must light.

  @ny.e.1
  Scenario Outline: The floorperson enters <result> and the table may open
    Given the dice lie at <result>
    When the floorperson inspects the entry device with what the dice show
    Then exactly the winning areas were lit, and none after clearing
    And the table may open

    Examples:
      | result |
      | 1,2,4  |
      | 3,5,5  |
      | 6,6,6  |

  @ny.e.1 @ny.e.4
  Scenario: A key pressed three times is a legal entry
    Given the dice lie at 2,2,2
    When what the dice show is entered on the terminal and then cleared
    Then exactly the winning areas were lit, and none after clearing

  @ny.e.4
  Scenario: A further key does no more than the table's maker says
    When 1, 2 and 3 are entered on the terminal and then a further 5
    Then the further key did what the table's maker says

  @ny.e.4
  Scenario: A dealer may hesitate in the middle of an entry
    When 1 is entered, and 2 and 3 only after 1 second
    Then exactly the winning areas were lit
