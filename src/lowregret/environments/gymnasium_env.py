"""A bandit as an environment of Gymnasium (the extra ``gymnasium``)."""

from typing import Any

from lowregret._common.extras import import_extra
from lowregret._common.validation import integer
from lowregret.environments.bandit import Bandit
from lowregret.environments.drift import DriftingBandit
from lowregret.environments.environment_string import environment
from lowregret.errors import InputError


def to_gymnasium(bandit: Bandit | str, horizon: int | None = None) -> Any:
    """Return a bandit as a ``gymnasium.Env``.

    An action is an arm. There is one observation, 0, since a bandit has no state. The reward is that of the
    arm, ``info["regret"]`` is its gap, and an episode is truncated at the horizon.

    Parameters
    ----------
    bandit : Bandit or str
        The bandit, or its string.
    horizon : int, optional
        The number of steps of an episode; by default the horizon of the bandit, without which it never ends.

    Examples
    --------
    >>> env = lr.to_gymnasium("bernoulli:0,1", horizon=100)
    >>> env.reset(seed=1)
    (0, {})
    >>> env.step(1)
    (0, 1.0, False, False, {'regret': 0.0})
    """
    gymnasium: Any = import_extra("gymnasium", "gymnasium")
    resolved = environment(bandit)
    if isinstance(resolved, DriftingBandit):
        raise InputError(f"to_gymnasium: the means of {resolved.name!r} change, which it does not support")
    steps = resolved.horizon if horizon is None else integer("to_gymnasium", "horizon", horizon)

    class BanditEnv(gymnasium.Env):  # type: ignore[misc]
        """A bandit."""

        action_space = gymnasium.spaces.Discrete(len(resolved))
        observation_space = gymnasium.spaces.Discrete(1)
        bandit = resolved
        t = 0

        def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
            super().reset(seed=seed)
            self.t = 0
            return 0, {}

        def step(self, action: Any) -> tuple[int, float, bool, bool, dict[str, Any]]:
            arm = int(action)
            reward = float(resolved.sample(arm, 1, self.np_random)[0])
            self.t += 1
            ends = steps is not None and self.t >= steps
            return 0, reward, False, ends, {"regret": float(resolved.gaps[arm])}

    return BanditEnv()
