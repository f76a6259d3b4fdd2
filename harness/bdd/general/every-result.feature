Feature: Every result of three dice
  A rule book without features of its own is tested on what every book has: each result is laid
  before the camera, read, keyed as it lies, compared with the winning areas and cleared again.

  Scenario Outline: <result> lights its winning areas and no other
    Given the dice lie at <result>
    When what the dice show is entered on the terminal and then cleared
    Then exactly the winning areas were lit, and none after clearing

    Examples:
      | result      |
      | each of 216 |
