Feature: Payout odds
  Posted odds may exceed the listed ones and never fall below them; one of a kind on two and on
  three dice is paid at exactly 2 and 3 to 1. Each wager is settled on every result at the odds
  posted at the table.

  @ny.d.1
  Scenario: Odds at the table
    Then no odds posted at the table break the rule book
    And the operator confirms of the dealer that winning wagers are paid at the odds posted

  Scenario Outline: <wager> is paid at no less than <odds> to 1
    Then the odds posted for <areas> are at least <odds> to 1
    And a wager on each of <areas> is paid at the posted odds on every result

    @ny.d.1.row-1
    Examples: Three of a kind
      | wager           | areas    | odds |
      | Three of a kind | triple-* | 150  |

    @ny.d.1.row-2
    Examples: Two of a kind
      | wager         | areas    | odds |
      | Two of a kind | double-* | 8    |

    @ny.d.1.row-3
    Examples: Any three of a kind
      | wager               | areas      | odds |
      | Any three of a kind | any-triple | 24   |

    @ny.d.1.row-4
    Examples: Total 4
      | wager   | areas   | odds |
      | Total 4 | total-4 | 50   |

    @ny.d.1.row-5
    Examples: Total 5
      | wager   | areas   | odds |
      | Total 5 | total-5 | 18   |

    @ny.d.1.row-6
    Examples: Total 6
      | wager   | areas   | odds |
      | Total 6 | total-6 | 14   |

    @ny.d.1.row-7
    Examples: Total 7
      | wager   | areas   | odds |
      | Total 7 | total-7 | 12   |

    @ny.d.1.row-8
    Examples: Total 8
      | wager   | areas   | odds |
      | Total 8 | total-8 | 8    |

    @ny.d.1.row-9
    Examples: Totals 9 to 12
      | wager    | areas    | odds |
      | Total 9  | total-9  | 6    |
      | Total 10 | total-10 | 6    |
      | Total 11 | total-11 | 6    |
      | Total 12 | total-12 | 6    |

    @ny.d.1.row-10
    Examples: Total 13
      | wager    | areas    | odds |
      | Total 13 | total-13 | 8    |

    @ny.d.1.row-11
    Examples: Total 14
      | wager    | areas    | odds |
      | Total 14 | total-14 | 12   |

    @ny.d.1.row-12
    Examples: Total 15
      | wager    | areas    | odds |
      | Total 15 | total-15 | 14   |

    @ny.d.1.row-13
    Examples: Total 16
      | wager    | areas    | odds |
      | Total 16 | total-16 | 18   |

    @ny.d.1.row-14
    Examples: Total 17
      | wager    | areas    | odds |
      | Total 17 | total-17 | 50   |

    @ny.d.1.row-15
    Examples: Two dice combination
      | wager                | areas  | odds |
      | Two dice combination | pair-* | 5    |

    @ny.d.1.row-16
    Examples: Small, big and one of a kind
      | wager                      | areas    | odds |
      | Small                      | small    | 1    |
      | Big                        | big      | 1    |
      | One of a kind, on one die  | single-* | 1    |

  @ny.d.2
  Scenario Outline: One of a kind on <dice> dice is paid at exactly <odds> to 1
    Then the odds posted for single-* on <dice> dice are exactly <odds> to 1
    And a wager on each of single-* is paid at the posted odds on every result

    Examples:
      | dice | odds |
      | 2    | 2    |
      | 3    | 3    |
