Feature: Every result of three dice
  Each result is laid before the camera, read, keyed as it lies, compared with the areas that win,
  and cleared again.

  @cca.5.4
  Scenario Outline: <result> lights its winning areas and no other
    Given the dice lie at <result>
    When what the dice show is entered on the terminal and then cleared
    Then exactly the winning areas were lit, and none after clearing

    Examples:
      | result      |
      | each of 216 |
