Feature: Settlement
  Winning wagers are paid at the odds that the table offers now. Which odds it may offer is the
  matter of another section, so that is not judged here.

  @nj.f
  Scenario: Every wager is paid as posted
    Then a wager on each of * is paid at the posted odds on every result
    And the operator confirms of the dealer that losing wagers are collected before winning ones are paid, at the odds offered now

  @nj.f
  Scenario: The odds that the table may offer
    Then whether the odds posted satisfy section 13:69F-9.4 is left open
