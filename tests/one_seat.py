"""What tests of the environments of one seat share: players, runs, choices, comparisons."""

import numpy as np
from deals import fixed_choice


def straight_out():
    """A deal whose landlord, seat 0, can go out with his first play."""
    hand = "333444555666777" + "89"
    left = list("3456789TJQKA2" * 4 + "XD")
    for card in hand + "TJQ":
        left.remove(card)
    return {"hands": [hand, "".join(left[:17]), "".join(left[17:])], "bottom": "TJQ"}


def first_of(view, ids):
    """A player that depends on nothing but its legal ids and the number of the decision."""
    return fixed_choice(ids, int(view["n_history"]))


def play(env, seed, choose=fixed_choice):
    """One deal: what every decision saw and chose, and the last step."""
    seen, step = [], env.reset(seed=seed)
    observation, info, over = *step, False
    while not over:
        action = choose(info["legal_actions"], len(seen))
        seen.append((observation, info, action))
        observation, reward, over, cut, info = env.step(action)
        assert cut is False and (over or reward == 0.0)
    return seen, (observation, reward, info)


def trace(env, steps, seed):
    """Everything that so many steps give, deal after deal."""
    out, (observation, info) = [], env.reset(seed=seed)
    for ply in range(steps):
        out.append((observation, info))
        result = env.step(fixed_choice(info["legal_actions"], ply))
        observation, reward, over, _, info = result
        out.append((reward, over))
        if over:
            out.append((observation, info))
            observation, info = env.reset()
    return out


def equal(one, other):
    """Whether two observations or infos hold the same; ids may be lists or arrays."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray) and one.dtype == object:
        return len(one) == len(other) and all(map(equal, one, other))
    if one is None or other is None:
        return one is other
    same_kind = np.ndim(one) == 0 or isinstance(other, list) or one.dtype == other.dtype
    return same_kind and np.array_equal(one, other)


def choices(infos, step, n, illegal=False):
    """A choice in every row that depends on its own ids only; illegal ones now and then."""
    actions = np.zeros(n, np.int64)
    for row in range(n):
        ids = infos["legal_actions"][row]
        if ids is not None and len(ids):
            actions[row] = fixed_choice(ids, step + row)
            if illegal and (step + row) % 9 == 0:
                actions[row] = 25
    return actions
