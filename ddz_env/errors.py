"""The errors that this package raises: each is a `ValueError` that names the thing at fault."""


class DdzError(ValueError):
    """Base of all errors of this package."""


class CardError(DdzError):
    """A text that is no hand, a hand that no deck has, a deal that is not 54 cards."""


class RuleError(DdzError):
    """A room that does not exist, a field of a rule set that is unknown or out of range."""


class PlayError(DdzError):
    """A text that is no play."""


class IllegalActionError(DdzError):
    """A choice that is not legal now; nothing has been changed."""


class FormatError(DdzError):
    """Bytes or a file that this version can't read."""
