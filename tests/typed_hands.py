"""What a play takes out of a hand: what a person types for it."""


def taken(game, text):
    """The cards that a whole play takes out of the hand on turn."""
    other = game.clone()
    seat = other.seat
    other.step(text)
    return int(game.state["hands"][seat]) - int(other.state["hands"][seat])
