"""The PettingZoo environments without infos, whose lists of legal ids differ in length.

TorchRL and Tianshou store infos in arrays of one shape. The action mask says the same.
"""

from pettingzoo.utils import BaseParallelWrapper, BaseWrapper


class NoInfosAEC(BaseWrapper):
    """An AEC environment whose infos are empty."""

    @property
    def infos(self):
        return {agent: {} for agent in self.env.agents}


class NoInfosParallel(BaseParallelWrapper):
    """A parallel environment whose infos are empty."""

    def reset(self, seed=None, options=None):
        observations, infos = super().reset(seed, options)
        return observations, {agent: {} for agent in infos}

    def step(self, actions):
        *result, infos = super().step(actions)
        return *result, {agent: {} for agent in infos}
