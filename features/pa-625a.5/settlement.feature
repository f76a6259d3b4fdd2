Feature: Settlement
  Winning wagers are paid at the odds of section 625a.6, which the table posts. Whether what it
  posts are those odds is the matter of that section and is not judged here.

  @pa.e
  Scenario: Every wager is paid as posted
    Then a wager on each of * is paid at the posted odds on every result
    And the operator confirms of the dealer that losing wagers are collected before winning ones are paid, at the odds posted

  @pa.e
  Scenario: The odds that the table may offer
    Then whether the odds posted satisfy section 625a.6 is left open
