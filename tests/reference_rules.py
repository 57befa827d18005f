"""The slow, obvious referee, part 1: which plays are legal (rules §2, text form §8).

Written straight from the rules and from nothing else, so that the fast kernels can be compared
with it play by play. Wild cards (§4) are not here. `reference_game.py` plays whole deals.

Ranks are indices into RANKS; a hand is a text of its cards in any order.
"""

RANKS = "3456789TJQKA2XD"
TWO = RANKS.index("2")  # chains run within 3..A: every rank of a chain is below this
PASS = "pass"

BARE = {1: "solo", 2: "pair", 3: "trio", 4: "bomb"}  # by equal cards
CHAINS = {1: ("solo_chain", 5), 2: ("pair_chain", 3), 3: ("airplane", 2)}  # name, fewest ranks

# §2: what the kickers of a main part are: main category -> (category, solo or pair size, how many
# kickers for each rank of the main part).
WITH_KICKERS = {
    "trio": [("trio_with_solo", 1, 1), ("trio_with_pair", 2, 1)],
    "airplane": [("airplane_with_solos", 1, 1), ("airplane_with_pairs", 2, 1)],
    "bomb": [("four_with_two_solos", 1, 2), ("four_with_two_pairs", 2, 2)],
}
# The categories that a room can lack (§2, §7); each is a key of the room.
OPTIONAL = ("trio_with_pair", "four_with_two_solos", "four_with_two_pairs", "airplane_with_pairs")

_PLAIN = {  # the default kicker rule of §2, no phase before the play (§3), no extra multiplier
    "trio_with_pair": True,
    "four_with_two_solos": True,
    "four_with_two_pairs": True,
    "airplane_with_pairs": True,
    "kicker_adjacent_trio": False,
    "kicker_four_solos": False,
    "kicker_both_jokers": False,
    "auction": "none",
    "rob": False,
    "all_pass": "redeal",
    "max_redeals": 50,
    "show_before_deal": 0,
    "show_at_6": 0,
    "show_at_12": 0,
    "show_after_bottom": 0,
    "show_cards_1": 6,
    "show_cards_2": 12,
    "shows_combine": "largest",
    "show_tie": "from_first_caller",
    "shower": "landlord",
    "caller_robs": "if_robbed",
    "look_then": "call_at_once",
    "double": False,
    "raising": False,
    "raise_order": "farmer_after_landlord",
    "start_multiplier": 1,
    "rob_multiplier": 2,
    "blind_multiplier": 2,
    "raise_multiplier": 2,
    "bomb_multiplier": 2,
    "spring": True,
    "first_caller": "drawn",
    "redeal_rotates": False,
    "turned_card_public": True,
}
_POINTS = {**_PLAIN, "auction": "points"}
_HAPPY_SHOWS = {"show_before_deal": 5, "show_at_6": 4, "show_at_12": 3, "show_after_bottom": 2}

# §7, the rooms without wild cards.
ROOMS = {
    "play_only": {**_PLAIN, "spring": False},
    "qq_classic": {**_POINTS, "first_caller": "rotates"},
    "jj_classic": {
        **_POINTS,
        "trio_with_pair": False,
        "four_with_two_pairs": False,
        "first_caller": "turned_card",
    },
    "happy": {
        **_PLAIN,
        **_HAPPY_SHOWS,
        "auction": "call",
        "rob": True,
        "double": True,
    },
    "happy_blind": {**_PLAIN, "auction": "blind", "show_after_bottom": 2, "raising": True},
}


def sort_cards(cards: str) -> str:
    """The cards as text in ascending rank order, wild cards `W` (§8) last."""
    return "".join(sorted(cards, key=(RANKS + "W").index))


def parse(text: str) -> tuple[str, int, int, str]:
    """(category, length, main_rank, cards) of a play's text; ValueError if it is no play.

    length: ranks of the main part (1 unless a chain); main_rank: index of its highest rank;
    cards: all cards of the play in ascending order. What a room allows is not looked at.
    """
    main, plus, kickers = text.partition("+")
    cards = sort_cards(main + kickers)
    if text == "XD":
        return "rocket", 1, RANKS.index("D"), cards
    ranks = sorted({RANKS.index(card) for card in main})
    if not ranks or main != sort_cards(main) or kickers != sort_cards(kickers):
        raise ValueError(f"no play: {text!r}")
    copies = main.count(main[0])
    category = _main_category(ranks, [main.count(RANKS[rank]) for rank in ranks])
    if plus:
        category = _kicker_category(category, main, kickers)
    if category is None or copies > 4:
        raise ValueError(f"no play: {text!r}")
    return category, len(ranks), ranks[-1], cards


def _main_category(ranks, counts):
    """The category of a main part (§2, the table), or None."""
    if len(set(counts)) != 1:
        return None
    if len(ranks) == 1:
        return BARE.get(counts[0])
    name, fewest = CHAINS.get(counts[0], (None, 0))
    consecutive = ranks == list(range(ranks[0], ranks[0] + len(ranks)))
    if consecutive and len(ranks) >= fewest and ranks[-1] < TWO:
        return name
    return None


def _kicker_category(main_category, main, kickers):
    """The category of a main part with these kickers (§2, Kickers), or None."""
    if set(main) & set(kickers):
        return None  # a kicker's rank is never a rank of the main part
    for category, size, per_rank in WITH_KICKERS.get(main_category, []):
        if len(kickers) == size * per_rank * len(set(main)):
            if size == 1 or all(kickers.count(card) == 2 for card in kickers):
                return category
    return None


def beats(play: tuple, last: tuple) -> bool:
    """Whether one parsed play beats another (§2, Order)."""
    category, length, rank, cards = play
    last_category, last_length, last_rank, last_cards = last
    if last_category == "rocket":
        return False
    if category == "rocket":
        return True
    if category == "bomb" and last_category != "bomb":
        return True
    same_type = category == last_category and length == last_length
    return same_type and len(cards) == len(last_cards) and rank > last_rank


def main_parts(hand):
    """(category, ranks, copies) of every main part in the hand, the rocket left out."""
    counts = [hand.count(rank) for rank in RANKS]
    found = []
    for rank in range(len(RANKS)):
        for copies, category in BARE.items():
            if counts[rank] >= copies:
                found.append((category, [rank], copies))
    for copies, (category, fewest) in CHAINS.items():
        for low in range(TWO):
            for high in range(low + fewest - 1, TWO):
                ranks = list(range(low, high + 1))
                if all(counts[rank] >= copies for rank in ranks):
                    found.append((category, ranks, copies))
    return found


def most_of_a_kicker(hand, rank, main_ranks, size, room):
    """How many solo (size 1) or pair (size 2) kickers of this rank one play may have (§2)."""
    if rank in main_ranks:
        return 0
    held = hand.count(RANKS[rank])
    if size == 2:
        return 1 if held >= 2 else 0  # pairs of different ranks; a joker is there only once
    most = 4 if room["kicker_four_solos"] else 3
    extends = rank < TWO and rank in (main_ranks[0] - 1, main_ranks[-1] + 1)
    if extends and not room["kicker_adjacent_trio"]:
        most = 2  # a trio among the kickers may not extend the chain
    return min(held, most)


def kicker_choices(hand, main_ranks, number, size, room):
    """Every choice of so many solo or pair kickers, as texts in ascending order (§2)."""

    def choose(rank, missing):
        if missing == 0:
            return [""]
        if rank == len(RANKS):
            return []
        found = []
        most = most_of_a_kicker(hand, rank, main_ranks, size, room)
        for taken in range(min(most, missing) + 1):
            for rest in choose(rank + 1, missing - taken):
                found.append(RANKS[rank] * size * taken + rest)
        return found

    choices = choose(0, number)
    if not room["kicker_both_jokers"]:
        choices = [kickers for kickers in choices if not ("X" in kickers and "D" in kickers)]
    return choices


def all_plays(hand: str, room: dict) -> list[str]:
    """The text of every play that the hand holds, each once, for a player who leads (§2)."""
    plays = ["XD"] if "X" in hand and "D" in hand else []
    for main_category, ranks, copies in main_parts(hand):
        main = "".join(RANKS[rank] * copies for rank in ranks)
        plays.append(main)
        for category, size, per_rank in WITH_KICKERS.get(main_category, []):
            if category in OPTIONAL and not room[category]:
                continue
            for kickers in kicker_choices(hand, ranks, per_rank * len(ranks), size, room):
                plays.append(main + "+" + kickers)
    return plays


def legal_plays(hand: str, last: str | None, room: dict) -> list[str]:
    """Sorted texts of all legal plays; `last` is the play to beat, None for who leads (§1, §2)."""
    plays = all_plays(hand, room)
    if last is None:
        return sorted(plays)
    to_beat = parse(last)
    return sorted([PASS] + [play for play in plays if beats(parse(play), to_beat)])
