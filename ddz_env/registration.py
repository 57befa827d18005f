"""The ids under which Gymnasium makes the environments of one seat."""

import gymnasium

ENV_ID = "ddz_env/DouDizhu-v0"


def register() -> None:
    """Register `ENV_ID` for `gymnasium.make` and `gymnasium.make_vec`; once is enough.

    The classes are named, not imported: their kernels are compiled when one is made.
    """
    if ENV_ID not in gymnasium.registry:
        gymnasium.register(
            ENV_ID,
            entry_point="ddz_env.single:DouDizhuEnv",
            vector_entry_point="ddz_env.seat_vector:SeatVectorEnv",
        )
