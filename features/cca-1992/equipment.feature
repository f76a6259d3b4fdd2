Feature: Equipment and layout
  What a table must have before it may be used. What no sensor can see, the operator confirms; the
  answer is recorded as the operator's.

  @cca.2.1
  Scenario: Places at the table
    Then the operator confirms of the table that players have places on one side and the dealers opposite

  @cca.2.2
  Scenario: Layout
    Then the operator confirms of the layout that it bears the name or logo of the casino and areas for the wagers

  @cca.2.3
  Scenario Outline: The layout lights what wins on <result>
    Given the dice lie at <result>
    When what the dice show is entered on the terminal
    Then exactly the winning areas were lit

    Examples:
      | result |
      | 1,1,1  |
      | 2,3,5  |
      | 6,6,4  |

  @cca.2.4 @needs-tumbler
  Scenario: The dome hides the dice for as long as they tumble
    Given a table that was inspected and opened
    And the dice can be read with the cover off
    When the cover is put on the shaker
    And the dealer activates the shaker
    Then no die was visible while the cover was on
    When the cover is taken off the shaker
    Then the dice can be read with the cover off

  @cca.2.4
  Scenario: The tumbler and its dome
    Then the operator confirms of the shaker that the tumbler is fixed to the table and its dome can be taken off and is not transparent

  @cca.2.5
  Scenario: The three sealed dice
    Given the dice can be read with the cover off
    Then the operator confirms of the dice that three are sealed in the tumbler, dotted 1 to 6, opposite sides making seven

  @cca.2.7.1
  Scenario: Marker buttons
    Then the operator confirms of the table that it has plastic marker buttons in colours enough for the values in use

  @cca.2.8
  Scenario: Drop box
    Then the operator confirms of the table that a drop box is attached to it

  @cca.3.1
  Scenario: The wagers on offer
    Then the layout has an area for each wager of the rule book and no other
    And the operator confirms of the layout that it offers no further wager

  @cca.4.1
  Scenario: Sign of the limits
    Then the operator confirms of the table that a sign shows the least and the greatest wager, and multiples only if they are required
