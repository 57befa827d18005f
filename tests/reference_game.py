"""The slow, obvious referee, part 2: a whole deal of a room without wild cards (rules §1, §3, §5).

The phases of §3 are methods that ask their questions in order with `yield`, so that the text of
the rules and the code can be read side by side. Every "no" is `pass`. Choices that the rules let
the players make at once are asked in seat order.
"""

from reference_rules import PASS, legal_plays, parse, sort_cards

SEATS = (0, 1, 2)
AT_ONCE = ("show_before_deal", "show_at_6", "show_at_12", "show_after_bottom", "double")


def round_from(seat):
    """The three seats in playing order from this one."""
    return [(seat + i) % 3 for i in SEATS]


def deal_scores(
    points: int, landlord: int, landlord_wins: bool, doubled: list[bool]
) -> list[float]:
    """§5: a farmer's stake is points x his double x the landlord's, the landlord's their sum."""
    scores = [0.0, 0.0, 0.0]
    for seat in SEATS:
        if seat != landlord:
            stake = points * (2 if doubled[seat] else 1) * (2 if doubled[landlord] else 1)
            scores[seat] = float(-stake if landlord_wins else stake)
    scores[landlord] = 0.0 - sum(scores)
    return scores


class RefereeGame:
    """One deal, redeals included: look at `phase`, `turn` and `legal()`, then `step(text)`.

    hands: three texts of cards; `first` calls first (the referee never draws); order: each hand's
    cards in the order of dealing, for what is seen during the deal (default: the hands as given).
    `enough_beans` says who has more beans than doubling needs; set it before that phase.
    """

    def __init__(
        self,
        room: dict,
        hands: list[str],
        bottom: str,
        first: int,
        order: list[str] | None = None,
    ) -> None:
        self.room = room
        self.redeals = 0
        self.enough_beans = [True, True, True]
        self._start(hands, bottom, first, order)

    # The faces.

    def legal(self) -> list[str]:
        """Sorted texts of what the seat on turn may choose; empty when nobody is asked."""
        return list(self._legal)

    def step(self, text: str) -> None:
        """The seat on turn chooses this."""
        if text not in self._legal:
            raise ValueError(f"not legal for seat {self.turn} in {self.phase}: {text!r}")
        if self.phase not in AT_ONCE:
            self.history.append((self.turn, text))
        self._resume(text)

    def redeal(
        self, hands: list[str], bottom: str, first: int, order: list[str] | None = None
    ) -> None:
        """After an all-pass: new cards, from the room's first phase, everything reset."""
        if not self.redeal_wanted:
            raise ValueError("no redeal is due")
        self.redeals += 1
        self._start(hands, bottom, first, order)

    @property
    def multiplier(self) -> int:
        """§5, as of now; doubles (加倍) are not in it, they belong to single seats."""
        result = self.room["start_multiplier"]
        shows = [value for _, value in self.shows]
        if shows and self.room["shows_combine"] == "largest":
            result *= max(shows)
        elif shows:
            for value in shows:
                result *= value
        result *= self.room["rob_multiplier"] ** self.robs
        result *= self.room["blind_multiplier"] if self.grabbed_blind else 1
        result *= self.room["raise_multiplier"] ** self.raises
        result *= self._bombs_multiplier()
        return result * (2 if self.spring else 1)

    def _bombs_multiplier(self):
        """Of all bombs and rockets played; rooms with wild cards count by class."""
        rockets = self.room.get("rocket_multiplier", 2) ** self.rockets
        return self.room["bomb_multiplier"] ** (self.bombs - self.rockets) * rockets

    def seen(self, seat: int) -> list[str]:
        """What a seat sees of the three hands, "" for a hidden one (§3, last paragraphs)."""
        first, second = self.room["show_cards_1"], self.room["show_cards_2"]
        dealt = {"show_before_deal": 0, "show_at_6": first, "show_at_12": second}.get(self.phase)
        shown = {who for who, _ in self.shows}
        visible = []
        for other in SEATS:
            own = other == seat and (
                self.room["auction"] != "blind" or self.landlord is not None or seat in self.looked
            )
            hand = self.hands[other]
            if dealt is not None:
                hand = sort_cards(self.order[other][:dealt])
            visible.append(hand if own or other in shown else "")
        return visible

    # The machinery.

    def _start(self, hands, bottom, first, order):
        self.hands = [sort_cards(hand) for hand in hands]
        self.bottom = sort_cards(bottom)
        self.first = first
        self.order = list(order or hands)
        self.landlord = None
        self.base = 0 if self.room["auction"] == "points" else 1  # 0: nobody has called yet
        self.shows = []  # (seat, multiplier), by moment, then in seat order from `first`
        self.looked = set()
        self.grabbed_blind = False
        self.robs = 0
        self.doubled = [False, False, False]
        self.history = []  # (seat, text); choices made at once enter it together
        self.raises = 0
        self.bombs = 0  # bombs and rockets played
        self.rockets = 0
        self.plays_made = [0, 0, 0]
        self.spring = False
        self.scores = [0.0, 0.0, 0.0]
        self.redeal_wanted = False
        self._script = self._deal()
        self._resume(None)

    def _resume(self, answer):
        try:
            self.phase, self.turn, choices = self._script.send(answer)
            self._legal = sorted(choices)
        except StopIteration:
            self.turn, self._legal = None, []

    # §3: the phases, in the order of the table.

    def _deal(self):
        yield from self._show_at_once("show_before_deal")
        yield from self._show_at_once("show_at_6")
        yield from self._show_at_once("show_at_12")
        yield from self._auction()
        if self.landlord is None:
            return
        self.hands[self.landlord] = sort_cards(self.hands[self.landlord] + self.bottom)
        yield from self._draw_wild()
        yield from self._show_after_bottom()
        yield from self._double()
        yield from self._raise()
        winner = yield from self._play()
        self._score(winner)

    def _at_once(self, phase, seats, yes):
        """Ask these seats; nothing is known of any answer before the last. Returns who said yes."""
        answers = []
        for seat in seats:
            answers.append((seat, (yield phase, seat, [yes, PASS])))
        self.history += answers
        return [seat for seat, answer in answers if answer == yes]

    def _show_at_once(self, phase, seats=SEATS):
        """Show: every player (of these) not showing yet, at once."""
        if not self.room[phase]:
            return
        showing = [seat for seat, _ in self.shows]
        new = yield from self._at_once(phase, [s for s in seats if s not in showing], "show")
        # At the same moment: in seat order from the drawn seat.
        from_first = self.room["show_tie"] == "from_first_caller"
        order = round_from(self.first) if from_first else SEATS
        self.shows += [(seat, self.room[phase]) for seat in order if seat in new]

    def _auction(self):
        """Who is landlord; the first to show calls first. Nobody at all: a redeal."""
        opener = self.shows[0][0] if self.shows else self.first
        auction = self.room["auction"]
        if auction == "none":
            self.landlord = 0
        elif auction == "points":
            yield from self._call_by_points(opener)
        elif auction == "call":
            yield from self._call_and_rob(opener)
        elif auction == "blind":
            yield from self._blind_grab(opener)
        else:
            raise ValueError(f"unknown auction: {auction!r}")
        if self.landlord is None:
            self._all_passed(opener)

    def _all_passed(self, opener):
        """All pass: who showed first is landlord, or the first bidder; or a redeal, or void."""
        if self.shows or self.room["all_pass"] == "first_bidder":
            self.landlord = opener
            self.base = 1
        elif self.redeals < self.room["max_redeals"]:
            self.redeal_wanted = True
        else:
            self.phase = "over"

    def _call_by_points(self, opener):
        """In order, once each: higher than the last call, or pass; 3 ends it."""
        caller = None
        for seat in round_from(opener):
            higher = [f"call_{points}" for points in (1, 2, 3) if points > self.base]
            answer = yield "call_points", seat, [PASS, *higher]
            if answer != PASS:
                self.base = int(answer[-1])
                caller = seat
            if self.base == 3:
                break
        self.landlord = caller

    def _call_and_rob(self, opener):
        """In order, call or pass; the first call ends it. Then rob, if the room has it."""
        caller, passed = None, []
        for seat in round_from(opener):
            if (yield "call", seat, ["call", PASS]) == "call":
                caller = seat
                break
            passed.append(seat)
        if caller is not None and self.room["rob"]:
            self.landlord = yield from self._rob(caller, passed)
        else:
            self.landlord = caller

    def _rob(self, caller, passed):
        """From the seat after the caller, each once, not who passed; the caller last, if robbed.

        Returns the landlord: the last to rob, or the caller.
        """
        last_to_rob = caller
        for seat in (*round_from(caller)[1:], caller):
            if seat in passed:
                continue
            if seat == caller and not self.robs and self.room["caller_robs"] == "if_robbed":
                continue
            if (yield "rob", seat, ["rob", PASS]) == "rob":
                self.robs += 1
                last_to_rob = seat
        return last_to_rob

    def _blind_grab(self, opener):
        """In order: grab blind and be landlord at once, or look and at once call or pass.

        Or all look first, and then they call or pass in the same order.
        """
        at_once = self.room["look_then"] == "call_at_once"
        for seat in round_from(opener):
            if (yield "blind", seat, ["blind", "look"]) == "blind":
                self.landlord = seat
                self.grabbed_blind = True
                return
            self.looked.add(seat)
            if at_once and (yield "call", seat, ["call", PASS]) == "call":
                self.landlord = seat
                return
        for seat in [] if at_once else round_from(opener):
            if (yield "call", seat, ["call", PASS]) == "call":
                self.landlord = seat
                return

    def _draw_wild(self):
        """The table draws the wild rank, in rooms that have one."""
        yield from ()

    def _show_after_bottom(self):
        """The landlord, if he has not shown; or everybody who has not."""
        seats = SEATS if self.room["shower"] == "everybody" else [self.landlord]
        yield from self._show_at_once("show_after_bottom", seats)

    def _double(self):
        """Every player, at once; the landlord if all have enough beans, a farmer if both have."""
        if not self.room["double"]:
            return
        allowed = []
        for seat in SEATS:
            needed = SEATS if seat == self.landlord else (seat, self.landlord)
            if all(self.enough_beans[other] for other in needed):
                allowed.append(seat)
        doubling = yield from self._at_once("double", allowed, "double")
        self.doubled = [seat in doubling for seat in SEATS]

    def _raise(self):
        """Farmers, landlord, farmers, landlord; a side that refuses ends it."""
        if not self.room["raising"]:
            return
        landlord, *farmers = round_from(self.landlord)
        if self.room["raise_order"] == "farmer_before_landlord":
            farmers.reverse()
        for side in (farmers, [landlord]) * 2:
            for seat in side:
                raised = (yield "raise", seat, ["raise", PASS]) == "raise"
                if raised:
                    self.raises += 1
                    break  # one farmer is enough for the side
            if not raised:
                return

    # §1 and §2: play.

    def _play(self):
        """The landlord leads; returns the seat that goes out."""
        seat, standing, owner = self.landlord, None, self.landlord
        while True:
            play = yield "play", seat, legal_plays(self.hands[seat], standing, self.room)
            if play != PASS:
                standing, owner = play, seat
                category, _, _, cards = parse(play)
                for card in cards:
                    self.hands[seat] = self.hands[seat].replace(card, "", 1)
                self.plays_made[seat] += 1
                if category in ("bomb", "rocket"):
                    self.bombs += 1
                    self.rockets += category == "rocket"
                if not self.hands[seat]:
                    return seat
            seat = (seat + 1) % 3
            if seat == owner:  # all others have passed
                standing = None

    # §5: the score.

    def _score(self, winner):
        """Spring, then the scores."""
        self.phase = "over"
        landlord_wins = winner == self.landlord
        if landlord_wins:
            farmers_played = sum(self.plays_made) - self.plays_made[self.landlord]
            sprung = farmers_played == 0
        else:
            sprung = self.plays_made[self.landlord] == 1
        self.spring = sprung and self.room["spring"]
        points = self.base * self.multiplier
        self.scores = deal_scores(points, self.landlord, landlord_wins, self.doubled)
