Feature: Every result of three dice
  The entry device must be able to light every area that wins, and it must light no other. So each
  result is laid before the camera, read, keyed as it lies, compared and cleared again.

  @ny.a.1.ii @ny.b.1 @ny.b.2 @ny.b.3 @ny.b.4 @ny.b.5 @ny.b.6 @ny.b.7 @ny.b.8 @ny.e.4 @ny.e.6
  Scenario Outline: <result> lights its winning areas and no other
    Given the dice lie at <result>
    When what the dice show is entered on the terminal and then cleared
    Then exactly the winning areas were lit, and none after clearing

    Examples:
      | result      |
      | each of 216 |
