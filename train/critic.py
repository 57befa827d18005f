"""A critic that sees all hands takes luck out of what choices are judged by; for training only.

Whether a deal is won is mostly the luck of hands that the seat can't see. With all hands f at the
time of a choice, a critic C(f) says how likely the side wins, and a head V(s) on the network's own
embedding what C is on average for what the seat sees. The network then learns

    won - C(f) + V(s)    instead of    won.

The mean is the same for every choice, whatever C is: choices depend on what the seat sees alone,
so that C(f) - V(s), which does not depend on the choice, is 0 on average. The spread is that of
won - C(f), which a good critic makes small. So nothing is bootstrapped and a bad critic does no
harm but noise. (A control variate; the luck adjustment of `eval`-style duplicate play, learned.)
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from agents.dmc_net import NetConfig, size_of, sum_of_rows
from ddz_env.features import CARDS, STATE_SIZE
from ddz_env.listed import Bits

HANDS = 4
"""Sets of cards beside the state: all hands, own, next and previous, and the bottom cards."""
TOP = 64
"""Width of the layers below the two chances."""


class Luck(NamedTuple):
    """What a critic and the network's own guess of it say of a batch."""

    adjustment: Tensor
    """V(s) - C(f), to be added to 1 for a deal that was won and 0 for one that was lost."""
    loss: Tensor
    """Of both."""


class HandsNet(nn.Module):
    """One number from all hands, beside what a network makes of what its seat sees.

    Args:
        width: of the first layer.
        net: sizes of the network.
    """

    def __init__(self, width: int, net: NetConfig) -> None:
        super().__init__()
        # About 130 and 40 ones a row: unit variance after the sums.
        self.state_in = nn.Parameter(torch.randn(STATE_SIZE, width) / 170**0.5)
        self.hands_in = nn.Parameter(torch.randn(HANDS * CARDS, width) / 170**0.5)
        self.embedded_in = nn.Linear(net.embedded, width)
        self.top = nn.Sequential(nn.Linear(width, TOP), nn.ReLU(), nn.Linear(TOP, 1))

    def forward(self, state: Bits, hands: Bits, embedded: Tensor) -> Tensor:
        """The number, `float32[B]`; no gradient reaches the embedding."""
        hidden = sum_of_rows(state, self.state_in) + sum_of_rows(hands, self.hands_in)
        hidden = hidden + self.embedded_in(torch.relu(embedded.detach()))
        return self.top(torch.relu(hidden)).squeeze(1)


class Critic(HandsNet):
    """The critic of one network, and the network's guess of it.

    Args:
        width: of the critic's first layer.
        net: sizes of the network.
    """

    def __init__(self, width: int, net: NetConfig) -> None:
        super().__init__(width, net)
        self.guess = nn.Sequential(
            nn.ReLU(),
            nn.Linear(net.embedded, TOP),
            nn.ReLU(),
            nn.Linear(TOP, 1),
        )

    def luck(self, state: Bits, hands: Bits, embedded: Tensor, won: Tensor) -> Luck:
        """What to learn from, and what to learn with.

        Args:
            state: what the seats saw.
            hands: all hands, as bits of `HANDS` sets of cards.
            embedded: the network's embedding of the states, `float32[B, width]`.
            won: 1 or 0, `float32[B]`.
        """
        guess = self.guess(embedded).squeeze(1)
        logit = self(state, hands, embedded) + guess.detach()
        known = logit.detach().sigmoid()
        loss = binary_cross_entropy_with_logits(logit, won)
        loss = loss + binary_cross_entropy_with_logits(guess, known)
        return Luck(guess.detach().sigmoid() - known, loss)


def make_critics(width: int, net: NetConfig, names: Sequence[str]) -> nn.ModuleList:
    """A critic for each network."""
    return nn.ModuleList(Critic(width, size_of(net, name)) for name in names)


def hands_matrix(hands: Bits, which: int) -> Tensor:
    """One of the `HANDS` sets of cards as bits, `float32[B, CARDS]`."""
    rows = np.repeat(np.arange(len(hands.offsets) - 1), np.diff(hands.offsets))
    bits = hands.bits[: hands.offsets[-1]].astype(np.int64) - which * CARDS
    here = (bits >= 0) & (bits < CARDS)
    out = torch.zeros(len(hands.offsets) - 1, CARDS)
    out[rows[here], bits[here]] = 1.0
    return out


def belief_loss(guesser: nn.Module, embedded: Tensor, hands: Bits) -> Tensor:
    """Cross-entropy, summed over cards, of what a network guesses of the next seat's hand."""
    cards = hands_matrix(hands, 1).to(embedded.device)
    found = binary_cross_entropy_with_logits(guesser(torch.relu(embedded)), cards, reduction="sum")
    return found / len(cards)
