Feature: Settlement
  Winning wagers are paid at exactly the odds listed. Each wager is settled on every result.

  Scenario Outline: <wager> is paid at exactly <odds> to 1
    Then the odds posted for <areas> are exactly <odds> to 1
    And a wager on each of <areas> is paid at the posted odds on every result

    @cca.6.1.row-1
    Examples: Small
      | wager | areas | odds |
      | Small | small | 1    |

    @cca.6.1.row-2
    Examples: Big
      | wager | areas | odds |
      | Big   | big   | 1    |

    @cca.6.1.row-3
    Examples: Specific triple
      | wager           | areas    | odds |
      | Specific triple | triple-* | 180  |

    @cca.6.1.row-4
    Examples: Specific double
      | wager           | areas    | odds |
      | Specific double | double-* | 11   |

    @cca.6.1.row-5
    Examples: Any triple
      | wager      | areas      | odds |
      | Any triple | any-triple | 31   |

    @cca.6.1.row-6
    Examples: Total 4 or 17
      | wager         | areas             | odds |
      | Total 4 or 17 | total-4, total-17 | 62   |

    @cca.6.1.row-7
    Examples: Total 5 or 16
      | wager         | areas             | odds |
      | Total 5 or 16 | total-5, total-16 | 31   |

    @cca.6.1.row-8
    Examples: Total 6 or 15
      | wager         | areas             | odds |
      | Total 6 or 15 | total-6, total-15 | 18   |

    @cca.6.1.row-9
    Examples: Total 7 or 14
      | wager         | areas             | odds |
      | Total 7 or 14 | total-7, total-14 | 12   |

    @cca.6.1.row-10
    Examples: Total 8 or 13
      | wager         | areas             | odds |
      | Total 8 or 13 | total-8, total-13 | 8    |

    @cca.6.1.row-11
    Examples: Total 9 or 12
      | wager         | areas             | odds |
      | Total 9 or 12 | total-9, total-12 | 7    |

    @cca.6.1.row-12
    Examples: Total 10 or 11
      | wager          | areas              | odds |
      | Total 10 or 11 | total-10, total-11 | 6    |

    @cca.6.1.row-13
    Examples: Combination of 1
      | wager            | areas    | odds |
      | Combination of 1 | pair-1-* | 6    |

    @cca.6.1.row-14
    Examples: Combination of 2
      | wager            | areas    | odds |
      | Combination of 2 | pair-2-* | 6    |

    @cca.6.1.row-15
    Examples: Combination of 3
      | wager            | areas    | odds |
      | Combination of 3 | pair-3-* | 6    |

    @cca.6.1.row-16
    Examples: Combination of 4
      | wager            | areas    | odds |
      | Combination of 4 | pair-4-* | 6    |

    @cca.6.1.row-17
    Examples: Combination of 5
      | wager            | areas    | odds |
      | Combination of 5 | pair-5-* | 6    |

  Scenario Outline: A single die on <dice> is paid at exactly <odds> to 1
    Then the odds posted for single-* on <dice> are exactly <odds> to 1
    And a wager on each of single-* is paid at the posted odds on every result

    @cca.6.1.row-18
    Examples: On one die
      | dice  | odds |
      | 1 die | 1    |

    @cca.6.1.row-19
    Examples: On two dice
      | dice   | odds |
      | 2 dice | 2    |

    @cca.6.1.row-20
    Examples: On three dice
      | dice   | odds |
      | 3 dice | 12   |

  @cca.1.1.def-promotional-token
  Scenario: A promotional token is one free wager
    Then a token of 10 on small wins on 1,2,4
    And a token of 10 on big loses on 1,2,4
    And all wagers are void and handed back
    And the operator confirms of the dealer that winnings of a token are paid in chips and the token is taken after a valid result only
