Feature: Inspections at opening and at the start of a shift
  Before the table opens, its floorperson sees that the electrical device lights every winning
  combination, and runs an automated shaker three times. Whoever supervises the table as casino
  supervisor runs that shaker again at the start of each shift: another person, another record.

  @nj.a @nj.a.1 @needs-manual-shaker
  Scenario: The floorperson inspects a table with a manual shaker
    Given the dice lie at 1,2,4
    When the floorperson inspects the entry device with what the dice show
    Then exactly the winning areas were lit, and none after clearing
    And the table may open

  @nj.a @nj.a.1 @nj.a.2 @needs-automated-shaker
  Scenario: The floorperson inspects a table with an automated shaker
    Given the dice lie at 3,5,5
    When the floorperson inspects the entry device with what the dice show
    And the floorperson runs the shaker 3 times
    Then every toss was proper
    And the table may open

  @nj.a.1
  Scenario Outline: Three values entered, among them <result>
    Given the dice lie at <result>
    When what the dice show is entered on the terminal and then cleared
    Then exactly the winning areas were lit, and none after clearing

    Examples:
      | result |
      | 2,2,2  |
      | 6,1,3  |
      | 4,6,4  |

  @nj.b @needs-automated-shaker
  Scenario: The casino supervisor inspects the shaker as the shift begins
    Given a table that was inspected and opened
    When the shift begins
    And the casino supervisor runs the shaker 3 times
    Then every toss was proper
    And play may begin

  @irregular @nj.b @needs-automated-shaker
  Scenario: The floorperson's runs do not stand for the casino supervisor's
    Given a table that was inspected and opened
    When the shift begins
    And the floorperson runs the shaker 3 times
    And a round begins
    Then the departure from nj.b is noticed, and no other

  @irregular @nj.a.2 @needs-automated-shaker
  Scenario: Two runs of the shaker do not open the table
    Given the dice lie at 1,2,4
    When the floorperson inspects the entry device with what the dice show
    And the floorperson runs the shaker 2 times
    And the table opens too soon
    Then the departure from nj.a.2 is noticed, and no other
