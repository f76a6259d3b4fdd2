Feature: Irregularities
  Each is provoked or staged on purpose; what counts is how it is handled: no result and all wagers
  void, or settlement by the dice where only the lamps fail; and no play until an inspector has been
  told of a malfunction and it is rectified.

  Background:
    Given a table that was inspected and opened

  @irregular @cca.7.1 @cca.7.5 @cca.1.1.def-void
  Scenario Outline: A <pose> die
    When a round begins
    And the dice come to rest with one of them <pose>
    Then no value is read from dice of which one is <pose>
    When the dealer announces "no result"
    Then the round ends as void
    And all wagers are void and handed back
    And the operator confirms of the dealer that no wager is collected or paid after "no result"

    Examples:
      | pose    |
      | leaning |
      | stacked |

  @irregular @cca.7.2 @cca.7.5 @needs-tumbler
  Scenario: A tumbler that does not work properly
    When a round begins
    And the cover is put on the shaker
    And it is noticed that the tumbler stopped too soon
    And the game supervisor announces "no result"
    And an inspector is told at once
    And the fault has been rectified
    Then the round ends as void
    And all wagers are void and handed back

  @irregular @cca.7.3 @cca.7.5 @needs-tumbler
  Scenario: Dice exposed before no more bets
    When a round begins
    And the cover is put on the shaker
    And the dealer activates the shaker
    And the dealer calls "place your bets"
    And the cover is taken off the shaker
    Then the departure from cca.5.2 is noticed, and no other
    When the dealer announces "no result"
    Then the round ends as void
    And all wagers are void and handed back

  @irregular @cca.7.3 @needs-tumbler
  Scenario: A tumbler started by a player
    When a round begins
    And the cover is put on the shaker
    And the selected player activates the shaker
    Then the departure from cca.5.6 is noticed, and no other
    When the game supervisor announces "no result"
    Then the round ends as void

  @irregular @cca.7.3 @needs-tumbler
  Scenario: Dice that did not tumble under the dome
    When a round begins
    And the dealer activates the shaker
    Then the departure from cca.5.1 is noticed, and no other
    When the dealer announces "no result"
    Then the round ends as void

  @irregular @cca.7.4 @cca.7.5
  Scenario Outline: Broken: <part>
    When a round begins
    And it is noticed that <part>
    And the dealer announces "no result"
    And an inspector is told at once
    And the fault has been rectified
    Then the round ends as void
    And all wagers are void and handed back

    Examples:
      | part                  |
      | a die is broken       |
      | the tumbler is broken |

  @irregular @cca.7.6 @needs-tumbler
  Scenario: Lamps that fail are no ground for no result
    When a round begins
    And the cover is put on the shaker
    And the dealer activates the shaker
    And the dealer calls "place your bets"
    And players place wagers on small, total-9
    And the dealer calls "no more bets"
    And the cover is taken off the shaker
    And the dice have come to rest
    And the values are announced from the lowest to the highest, and their total
    And the values are entered on the terminal
    And it is noticed that the lamps of the layout are wrong
    And an inspector is told at once
    And the losing wagers are collected
    And the winning wagers are paid
    And the fault has been rectified
    Then the round ends as settled
    And the operator confirms of the dealer that the wagers are settled by the dice where the lamps fail

  @irregular @cca.7.7
  Scenario: Play stops until a fault is rectified
    When a round begins
    And it is noticed that the tumbler does not start
    And the dealer announces "no result"
    And an inspector is told at once
    Then the round ends as stopped
    When the fault has been rectified
    Then play may begin

  @irregular @cca.8.4
  Scenario Outline: A game disturbed by <ground> may be invalidated
    When a round begins
    And the casino supervisor invalidates the game because of <ground>
    Then the round ends as void
    And the operator confirms of the dealer that the game was invalidated because of <ground> and not settled

    @cca.8.4.1
    Examples: Disruption
      | ground          |
      | civil commotion |
      | fire            |
      | a riot          |
      | a brawl         |
      | robbery         |
      | an act of God   |

    @cca.8.4.2
    Examples: Fraud
      | ground                         |
      | fraud that affects the outcome |

  @irregular @cca.8.5
  Scenario: The wagers of an invalidated game
    When a round begins
    And the casino supervisor invalidates the game because of fraud that affects the outcome
    Then the round ends as void
    And all wagers are void and handed back
    And the operator confirms of the dealer that wagers are refunded, and one forfeited only of whoever committed fraud and as the casino supervisor directs

  @irregular @cca.5.4 @needs-tumbler
  Scenario: A wrong value entered by the dealer is the dealer's error
    When a round begins
    And the cover is put on the shaker
    And the dealer activates the shaker
    And the dealer calls "place your bets"
    And the dealer calls "no more bets"
    And the cover is taken off the shaker
    And the dice come to rest flat
    And the values are announced from the lowest to the highest, and their total
    And the dealer enters 2, 4 and 6 instead
    Then the areas of 2,4,6 are lit and no other
    And the entry is told as an error of the dealer under cca.5.4
    When the values are entered on the terminal
    Then exactly the winning areas were lit
