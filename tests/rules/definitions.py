"""The wagers' definitions, written a second time and another way, to check the rule books against.

Nothing is shared with the product: an area is known by its id alone, and each definition is a
sentence about the list of the three faces.
"""

from collections import Counter

RESULTS = [(a, b, c) for a in range(1, 7) for b in range(1, 7) for c in range(1, 7)]

COMMON = (
    ["small", "big", "any-triple"]
    + [f"triple-{n}" for n in range(1, 7)]
    + [f"double-{n}" for n in range(1, 7)]
    + [f"single-{n}" for n in range(1, 7)]
    + [f"total-{n}" for n in range(4, 18)]
    + [f"pair-{a}-{b}" for a in range(1, 6) for b in range(a + 1, 7)]
)


def wins(area: str, dice: tuple[int, ...], double_on_triple: bool = True) -> bool:
    """Say from the definition whether the area wins."""
    word, *rest = area.split("-")
    if area == "any-triple":
        return max(dice) == min(dice)
    numbers = [int(text) for text in rest]
    faces = Counter(dice)
    total = dice[0] + dice[1] + dice[2]
    triple = len(faces) == 1
    if word == "small":
        return total < 11 and not triple
    if word == "big":
        return total > 10 and not triple
    if word == "odd":
        return total in (5, 7, 9, 11, 13, 15, 17) and not triple
    if word == "even":
        return total in (4, 6, 8, 10, 12, 14, 16) and not triple
    if word == "triple":
        return faces == {numbers[0]: 3}
    if word == "double":
        return faces[numbers[0]] == 2 or (double_on_triple and faces[numbers[0]] == 3)
    if word == "single":
        return faces[numbers[0]] > 0
    if word == "total":
        return total == numbers[0]
    if word == "pair":
        return all(faces[n] for n in numbers)
    if word == "set":
        return faces == Counter(numbers)
    if word == "four":
        return len(faces) == 3 and not faces.keys() - set(numbers)
    raise AssertionError(f"no definition of {area}")


def odds_of_the_sources(book: str) -> dict[tuple[str, int], int]:
    """Give N to 1 by area and number of dice that show it, as typed from the printed tables."""
    if book == "cca-1992":
        triple, any_triple, double, pair, three_singles = 180, 31, 11, 6, 12
        totals = [62, 31, 18, 12, 8, 7, 6, 6, 7, 8, 12, 18, 31, 62]
    else:
        triple, any_triple, double, pair, three_singles = 150, 24, 8, 5, 3
        totals = [50, 18, 14, 12, 8, 6, 6, 6, 6, 8, 12, 14, 18, 50]
    odds = {("small", 0): 1, ("big", 0): 1, ("any-triple", 0): any_triple}
    odds |= {(f"total-{n}", 0): totals[n - 4] for n in range(4, 18)}
    for n in range(1, 7):
        odds |= {(f"triple-{n}", 0): triple, (f"double-{n}", 0): double}
        odds |= {(f"single-{n}", 1): 1, (f"single-{n}", 2): 2, (f"single-{n}", 3): three_singles}
    odds |= {(area, 0): pair for area in COMMON if area.startswith("pair-")}
    return odds
