Feature: Every result of three dice
  When the three numbers of a result are entered, all winning areas of the layout light, and no
  other. No rule names a clear key: the next entry takes the last result away. So each result is
  laid before the camera, read, keyed as it lies and compared.

  @cca.1.1.def-total @cca.2.3 @cca.3.1.1.1 @cca.3.1.1.2 @cca.3.1.2.1 @cca.3.1.2.2 @cca.3.1.3
  @cca.3.1.4 @cca.3.1.5 @cca.3.1.6 @cca.3.1.7 @cca.3.1.8 @cca.5.4
  Scenario Outline: <result> lights its winning areas and no other
    Given the dice lie at <result>
    When what the dice show is entered on the terminal
    Then exactly the winning areas were lit

    Examples:
      | result      |
      | each of 216 |
