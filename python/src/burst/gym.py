"""Networks that act in Gymnasium's environments. It needs gymnasium."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, SupportsFloat

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.core import ActType, ObsType
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from gymnasium.vector.utils import concatenate, create_empty_array, iterate

from ._ports import Input, Output
from .errors import UsageError
from .network import Network, step_all

Amounts = npt.NDArray[Any]


class Agent(gymnasium.Wrapper[ObsType, ActType, ObsType, ActType], Generic[ObsType, ActType]):
    """An environment with a network that acts in it, in lock-step: each waits for the other.

    As an environment it is the one that it wraps. `reset` resets the network, too.
    """

    def __init__(
        self,
        env: gymnasium.Env[ObsType, ActType],
        net: Network,
        senses: Input,
        motors: Output,
        *,
        encode: Callable[[ObsType], Amounts],
        decode: Callable[[Amounts], ActType],
        bursts: int | str = 20,
    ) -> None:
        """Joins a network to an environment.

        Args:
            env: the environment.
            net: the network; the caller closes it.
            senses: the input that observations go to.
            motors: the output that actions come from.
            encode: makes the amounts of senses of an observation.
            decode: makes an action of what motors tell, such as counts of spikes.
            bursts: how long the network runs for an action: bursts, or time such as "20 ms".

        """
        super().__init__(env)
        self.net, self.senses, self.motors = net, senses, motors
        self.encode, self.decode, self.bursts = encode, decode, bursts

    @property
    def spec(self) -> None:  # type: ignore[override]
        """None: a network cannot be made anew by name."""

    def act(self, observation: ObsType) -> ActType:
        """Shows the network an observation, and gives its action."""
        return self.decode(self.net.step(self.bursts, {self.senses: self.encode(observation)})[self.motors])

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[ObsType, dict[str, Any]]:
        """Resets the environment, and puts the network into its state before burst 0, without input.

        The seed is the environment's. The network's random input goes on; `net.reset(run_seed=…)` begins it anew.
        """
        self.net.reset()
        return super().reset(seed=seed, options=options)

    def episode(self, *, seed: int | None = None, most: int = 10_000) -> float:
        """Lets the network act until the episode ends, or for so many steps, and gives the sum of rewards."""
        observation, _ = self.reset(seed=seed)
        total = 0.0
        for _ in range(most):
            reward: SupportsFloat
            observation, reward, ended, cut, _ = self.step(self.act(observation))
            total += float(np.asarray(reward))
            if ended or cut:
                break
        return total


class Agents(VectorWrapper):
    """Environments that Gymnasium runs side by side, with a network that acts in each; networks run at the same time.

    As a vector of environments it is the one that it wraps. Where an environment begins an episode, its network is
    reset, too.
    """

    def __init__(
        self,
        envs: VectorEnv[Any, Any, Any],
        nets: Sequence[Network],
        bind: Callable[[Network], tuple[Input, Output]],
        *,
        encode: Callable[[Any], Amounts],
        decode: Callable[[Amounts], Any],
        bursts: int | str = 20,
    ) -> None:
        """Joins networks to environments.

        Args:
            envs: the environments, such as gymnasium.make_vec("CartPole-v1", 4).
            nets: a network for each, such as net.copies(4); the caller closes them.
            bind: binds the senses and the motors of a network.
            encode: makes the amounts of senses of an observation of one environment.
            decode: makes an action of what motors tell.
            bursts: how long networks run for an action: bursts, or time such as "20 ms".

        """
        super().__init__(envs)
        if len(nets) != envs.num_envs:
            raise UsageError(f"{len(nets)} networks for {envs.num_envs} environments, want one for each")
        self.nets = list(nets)
        self.ports = [bind(net) for net in nets]
        self.encode, self.decode, self.bursts = encode, decode, bursts
        self.mode = envs.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP)
        self._over = np.zeros(envs.num_envs, dtype=bool)

    def act(self, observations: Any) -> Any:
        """Shows each network the observation of its environment, and gives their actions."""
        given = [
            {senses: self.encode(o)}
            for (senses, _), o in zip(self.ports, iterate(self.env.observation_space, observations), strict=True)
        ]
        told = step_all(self.nets, self.bursts, given)
        actions = [self.decode(t[motors]) for t, (_, motors) in zip(told, self.ports, strict=True)]
        space = self.env.single_action_space
        empty: Any = create_empty_array(space, len(actions))
        return concatenate(space, actions, empty)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Resets the environments, or those in options["reset_mask"], and their networks."""
        self._restart((options or {}).get("reset_mask", np.ones_like(self._over)))
        return self.env.reset(seed=seed, options=options)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Takes an action in each environment."""
        answer = self.env.step(actions)
        over = np.logical_or(answer[2], answer[3])
        if self.mode == AutoresetMode.SAME_STEP:
            self._restart(over)
        elif self.mode == AutoresetMode.NEXT_STEP:
            self._restart(self._over)
        self._over = over
        return answer

    def _restart(self, which: npt.NDArray[np.bool_]) -> None:
        for net, yes in zip(self.nets, which, strict=True):
            if yes:
                net.reset()
        self._over = np.logical_and(self._over, np.logical_not(which))
