Feature: Opening inspection
  Before the table opens, its floorperson sees that the electrical device lights every winning
  combination, and runs an automated shaker three times.

  @pa.a @pa.a.1 @needs-manual-shaker
  Scenario: The floorperson inspects a table with a manual shaker
    Given the dice lie at 1,2,4
    When the floorperson inspects the entry device with what the dice show
    Then exactly the winning areas were lit, and none after clearing
    And the table may open

  @pa.a @pa.a.1 @pa.a.2 @needs-automated-shaker
  Scenario: The floorperson inspects a table with an automated shaker
    Given the dice lie at 3,5,5
    When the floorperson inspects the entry device with what the dice show
    And the floorperson runs the shaker 3 times
    Then every toss was proper
    And the table may open

  @pa.a @pa.a.1 @pa.a.2 @needs-player-activated-shaker
  Scenario: The floorperson inspects a table with a player-activated shaker
    Given the dice lie at 4,4,4
    When the floorperson inspects the entry device with what the dice show
    And the floorperson runs the shaker 3 times
    Then every toss was proper
    And the table may open

  @pa.a.1
  Scenario Outline: Three values entered, among them <result>
    Given the dice lie at <result>
    When what the dice show is entered on the terminal and then cleared
    Then exactly the winning areas were lit, and none after clearing

    Examples:
      | result |
      | 2,2,2  |
      | 6,1,3  |
      | 4,6,4  |

  @irregular @pa.a.2 @needs-automated-shaker
  Scenario: Two runs of the shaker do not open the table
    Given the dice lie at 1,2,4
    When the floorperson inspects the entry device with what the dice show
    And the floorperson runs the shaker 2 times
    And the table opens too soon
    Then the departure from pa.a.2 is noticed, and no other
