Feature: Every result of three dice
  Once the dice rest, their numbers are keyed in and the monitor shows the winning bets, and no
  other, with lights. No rule names a clear key: the next entry takes the last result away.

  @ts.3 @ts.payoff.1 @ts.payoff.2 @ts.payoff.3 @ts.payoff.4 @ts.payoff.5 @ts.payoff.6 @ts.payoff.7
  @ts.payoff.8 @ts.payoff.9 @ts.payoff.10 @ts.payoff.11 @ts.payoff.12
  Scenario Outline: <result> lights its winning areas and no other
    Given the dice lie at <result>
    When what the dice show is entered on the terminal
    Then exactly the winning areas were lit

    Examples:
      | result      |
      | each of 216 |
