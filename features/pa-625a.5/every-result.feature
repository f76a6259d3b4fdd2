Feature: Every result of three dice
  The device must light every winning combination and no other. This section defines no wagers, so
  the areas are those of the layout by a reading that the report names. Each result is laid before
  the camera, read, keyed as it lies, compared and cleared again.

  @pa.d @pa.f
  Scenario Outline: <result> lights its winning areas and no other
    Given the dice lie at <result>
    When what the dice show is entered on the terminal and then cleared
    Then exactly the winning areas were lit, and none after clearing

    Examples:
      | result      |
      | each of 216 |
