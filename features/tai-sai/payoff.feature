Feature: Payoff
  Bets are paid at exactly the odds listed. Each bet is settled on every result.

  Scenario Outline: <wager> is paid at exactly <odds> to 1
    Then the odds posted for <areas> are exactly <odds> to 1
    And a wager on each of <areas> is paid at the posted odds on every result

    @ts.payoff.1
    Examples: Big and small
      | wager | areas | odds |
      | Big   | big   | 1    |
      | Small | small | 1    |

    @ts.payoff.2
    Examples: Straight triple
      | wager           | areas    | odds |
      | Straight triple | triple-* | 150  |

    @ts.payoff.3
    Examples: Any triple
      | wager      | areas      | odds |
      | Any triple | any-triple | 24   |

    @ts.payoff.5
    Examples: Double
      | wager  | areas    | odds |
      | Double | double-* | 8    |

    @ts.payoff.6
    Examples: Combination
      | wager       | areas  | odds |
      | Combination | pair-* | 5    |

    @ts.payoff.7
    Examples: Total 4 or 17
      | wager         | areas             | odds |
      | Total 4 or 17 | total-4, total-17 | 50   |

    @ts.payoff.8
    Examples: Total 5 or 16
      | wager         | areas             | odds |
      | Total 5 or 16 | total-5, total-16 | 18   |

    @ts.payoff.9
    Examples: Total 6 or 15
      | wager         | areas             | odds |
      | Total 6 or 15 | total-6, total-15 | 14   |

    @ts.payoff.10
    Examples: Total 7 or 14
      | wager         | areas             | odds |
      | Total 7 or 14 | total-7, total-14 | 12   |

    @ts.payoff.11
    Examples: Total 8 or 13
      | wager         | areas             | odds |
      | Total 8 or 13 | total-8, total-13 | 8    |

    @ts.payoff.12
    Examples: Total 9, 10, 11 or 12
      | wager                 | areas                                 | odds |
      | Total 9, 10, 11 or 12 | total-9, total-10, total-11, total-12 | 6    |

  @ts.payoff.4
  Scenario Outline: A single point on <dice> is paid at exactly <odds> to 1
    Then the odds posted for single-* on <dice> are exactly <odds> to 1
    And a wager on each of single-* is paid at the posted odds on every result

    Examples:
      | dice   | odds |
      | 1 die  | 1    |
      | 2 dice | 2    |
      | 3 dice | 3    |
