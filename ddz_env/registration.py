"""The ids under which Gymnasium and PettingZoo make environments."""

import gymnasium
import pettingzoo

ENV_ID = "ddz_env/DouDizhu-v0"
"""Of one seat, for `gymnasium.make` and `gymnasium.make_vec`."""
ZOO_ID = "ddz_env/doudizhu_v1"
"""Of all seats, for `pettingzoo.make` (`aec` and `parallel`), from PettingZoo 1.26 on."""


def register() -> None:
    """Register both; once is enough.

    The classes are named, not imported: their kernels are compiled when one is made.
    """
    if ENV_ID not in gymnasium.registry:
        gymnasium.register(
            ENV_ID,
            entry_point="ddz_env.single:DouDizhuEnv",
            vector_entry_point="ddz_env.seat_vector:SeatVectorEnv",
        )
    # PettingZoo before 1.26 has no registry.
    if (
        hasattr(pettingzoo, "register")
        and ZOO_ID.replace("_v", "-v") not in pettingzoo.aec_registry
    ):
        pettingzoo.register("aec", ZOO_ID, "ddz_env.aec:env")
        pettingzoo.register("parallel", ZOO_ID, "ddz_env.parallel:parallel_env")
