"""Networks in Gymnasium's environments."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import wanted

import burst
from burst import errors

gymnasium = wanted("gymnasium")
sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))


@pytest.mark.filterwarnings("ignore::UserWarning")  # of the environment's own bounds, and that it is wrapped
def test_check_env() -> None:
    """The wrapper is an environment as Gymnasium wants one."""
    import cartpole
    from gymnasium.utils.env_checker import check_env

    from burst.gym import Agent

    with cartpole.reflex() as net:
        eye, leg = net.input("eye", largest=1), net.output("leg")
        env = gymnasium.make("CartPole-v1").unwrapped
        agent = Agent(env, net, eye, leg, encode=cartpole.encode, decode=cartpole.decode)
        check_env(agent, skip_render_check=True)
        first = agent.episode(seed=3, most=20)
        assert first == agent.episode(seed=3, most=20) == 20
        observation, _ = agent.reset(seed=1)
        assert agent.action_space.contains(agent.act(observation))
        assert np.array_equal(observation, agent.reset(seed=1)[0])


def test_cartpole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The example balances the pole and replays to its digest."""
    import cartpole

    cartpole.main(str(tmp_path / "run"))
    assert capsys.readouterr().out.count("balanced for 500 steps") == 3


def test_learns_cartpole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The example learns within a few episodes, comes out the same everywhere, and replays to its digest."""
    import learn_cartpole

    learn_cartpole.main(str(tmp_path / "run"), episodes=4)
    assert "while it learns [23, 116, 281, 500]" in capsys.readouterr().out


@pytest.mark.parametrize("mode", ["NEXT_STEP", "SAME_STEP", "DISABLED"])
def test_agents(mode: str) -> None:
    """Networks side by side act as each does alone, over the ends of episodes, too."""
    import cartpole
    from gymnasium.vector import AutoresetMode, SyncVectorEnv

    from burst.gym import Agent, Agents

    def bind(net: burst.Network) -> tuple[burst.Input, burst.Output]:
        return net.input("eye", largest=1), net.output("leg")

    def make() -> Any:
        return gymnasium.make("CartPole-v1", max_episode_steps=7)

    how: dict[str, Any] = {"encode": cartpole.encode, "decode": cartpole.decode, "bursts": 10}
    with cartpole.reflex() as net:
        nets = net.copies(3)
        envs = SyncVectorEnv([make] * 3, autoreset_mode=AutoresetMode[mode])
        agents = Agents(envs, nets, bind, **how)
        assert agents.single_action_space == make().action_space
        seen, _ = agents.reset(seed=[1, 2, 3])
        acted, episodes = [], 0
        for k in range(20):
            assert seen in agents.observation_space
            actions = agents.act(seen)
            assert actions in agents.action_space
            acted.append(actions[1])
            if mode == "DISABLED" and episodes == 0 and k == 5:  # one of three begins anew
                seen, _ = agents.reset(seed=[1, 2, 3], options={"reset_mask": np.array([True, False, False])})
                continue
            seen, _, ended, cut, _ = agents.step(actions)
            if mode == "DISABLED" and (ended | cut).any():
                seen, _ = agents.reset(seed=None, options={"reset_mask": ended | cut})
            episodes += int((ended | cut)[1])
        assert episodes >= 2
        alone = Agent(make(), net, *bind(net), **how)
        o, _ = alone.reset(seed=2)
        want = []
        for k in range(len(acted)):
            action = alone.act(o)
            want.append(action)
            if mode == "DISABLED" and k == 5:
                continue
            o, _, ended, cut, _ = alone.step(action)
            if ended or cut:
                if mode == "NEXT_STEP":
                    want.append(alone.act(o))  # which is not done
                o, _ = alone.reset()
        assert want[: len(acted)] == acted
        agents.close()
        with pytest.raises(errors.UsageError, match="2 networks for 3 environments"):
            Agents(envs, nets[:2], bind, **how)
        with pytest.raises(errors.RefusedError, match="at most the 1 of either sign"):
            burst.step_all(nets, 1, [{agents.ports[0][0]: np.full(8, 3)}, {}, {}])
        assert [n.burst for n in nets[1:]] == [n.burst + 1 for n in nets[:1]] * 2
        for n in nets:
            n.close()
