"""Tournaments of agents whose strengths are known, as the games that they would leave.

Every deal has luck of its own, which favours landlord or farmers in all of its games, and a stake
of its own. The luck follows the bridge distribution (Wang and Louis 2003): seen over all deals, the
chance that a landlord wins is again logistic, so that all true figures have closed forms.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import expit

from ddz_env import PRESETS
from eval.games import GAME, layouts

STAKES, SHARES = np.array([1, 2, 4, 8]), np.array([0.7, 0.2, 0.08, 0.02])
MEAN_STAKE = float(STAKES @ SHARES)


@dataclass(frozen=True)
class World:
    """Agents by name with their strengths (landlord, farmers), in logits over all deals."""

    strengths: dict[str, tuple[float, float]]
    bias: float = -0.2
    luck: float = 0.75
    """Of the bridge distribution, 0..1: the less, the more a deal decides by itself."""
    room: str = "play_only"

    @property
    def rules(self):
        return PRESETS[self.room]

    @property
    def pairs(self):
        return list(combinations(self.strengths, 2))

    def logit(self, landlord, farmers):
        """What a landlord has against two farmers, over all deals."""
        weak = sum(self.strengths[name][1] for name in farmers) / 2
        return self.bias + self.strengths[landlord][0] - weak

    def play(self, deals, rng):
        """`GAME[D, L]` of each pairing, all on the same deals."""
        uniform = rng.uniform(size=deals)
        phi = np.pi * self.luck
        luck = np.log(np.sin(phi * uniform) / np.sin(phi * (1 - uniform))) / self.luck
        stake = rng.choice(STAKES, deals, p=SHARES)
        called = rng.integers(0, 3, deals) if self.rules.auction != "none" else np.zeros(deals, int)
        return [self._pairing(pair, luck, stake, called, rng) for pair in self.pairs]

    def _pairing(self, pair, luck, stake, called, rng):
        table = layouts(self.rules)
        games = np.zeros((len(luck), len(table)), GAME)
        games["by"] = table
        games["landlord"] = called[:, None]
        for layout, sides in enumerate(table):
            names = [pair[k] for k in sides]
            logits = [
                self.logit(names[s], [n for i, n in enumerate(names) if i != s]) for s in range(3)
            ]
            chance = expit(np.array(logits)[called] / self.luck + luck)
            won = rng.uniform(size=len(luck)) < chance
            games["winner"][:, layout] = np.where(won, called, (called + 1) % 3)
            sign = np.where(won, 1, -1)[:, None]
            lord = called[:, None] == np.arange(3)
            games["scores"][:, layout] = np.where(lord, 2, -1) * sign * stake[:, None] * 4
        return games

    def truth(self, pair):
        """True figures of a pairing, from the first one's side."""
        table = layouts(self.rules)
        shares = {"landlord": [], "farmers": []}
        points = {0: [], 1: []}
        seats = range(3) if self.rules.auction != "none" else [0]
        for sides in table:
            for lord in seats:
                names = [pair[k] for k in sides]
                others = [s for s in range(3) if s != lord]
                chance = expit(self.logit(names[lord], [names[s] for s in others]))
                edge = (2 * chance - 1) * MEAN_STAKE
                if sides[lord] == 0:
                    shares["landlord"].append(chance)
                shares["farmers"] += [1 - chance for s in others if sides[s] == 0]
                points[sides[lord]].append(2 * edge)
                for s in others:
                    points[sides[s]].append(-edge)
        found = {name: float(np.mean(values)) for name, values in shares.items()}
        if self.rules.auction == "none":
            found["wp"] = (found["landlord"] + found["farmers"]) / 2
            found["adp"] = float(sum(points[0])) / 2
        found["score"] = float(np.mean(points[0]) - np.mean(points[1]))
        return found

    def rating(self, name):
        """(landlord, farmers) above the mean."""
        both = np.array(list(self.strengths.values()))
        return np.array(self.strengths[name]) - both.mean(axis=0)


THREE = {"good": (0.7, 0.5), "fair": (0.1, 0.2), "poor": (-0.5, -0.3)}
