"""A reflex network balances Gymnasium's CartPole, and the session is replayed to its digest without Python's part.

Usage: python cartpole.py [FOLDER]. It needs gymnasium.
"""

import sys
import tempfile

import gymnasium
import numpy as np
import numpy.typing as npt

import burst
from burst.gym import Agent

STEPS = 500  # of an episode; all of them are balanced


def reflex() -> burst.Network:
    """Senses say how far and how fast, to the left or right; each drives the motor of its side."""
    net = burst.Network("reflex", backend="cpu", threads=1)
    eye = net.area("eye", 8, threshold=1, leak=0)  # of position, speed, angle, angular speed: below 0, above 0
    leg = net.area("leg", 2, threshold=1, leak=0)
    weights = np.array([0.05, 0.05, 0.1, 0.1, 1.0, 1.0, 0.5, 0.5], dtype=np.float32)
    net.connect(eye, leg, (np.arange(8), np.arange(8) % 2), weight=weights)
    return net


def encode(seen: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The amounts of the senses: each of the four numbers, scaled to about 1, as two that are not negative."""
    scaled = seen / np.array([2.4, 2.0, 0.1, 1.0], dtype=np.float32)
    both = np.stack([-scaled, scaled], axis=1).ravel()
    return np.clip(both, 0, 1)


def decode(counts: npt.NDArray[np.uint32]) -> np.int64:
    """Pushes to the side whose motor fired more often."""
    return np.int64(counts[1] > counts[0])


def main(folder: str) -> None:
    """Runs three episodes, and replays them."""
    with reflex() as net:
        eye, leg = net.input("eye", largest=1), net.output("leg")
        env = gymnasium.make("CartPole-v1", max_episode_steps=STEPS)
        agent = Agent(env, net, eye, leg, encode=encode, decode=decode, bursts=100)
        for seed in range(3):
            reward = agent.episode(seed=seed)
            print(f"episode {seed}: balanced for {reward:.0f} steps")
            assert reward == STEPS
        run = net.save(folder)
    digest = run.replay()
    print(f"digest {run.digest}, replayed {digest}")
    assert digest == run.digest


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        with tempfile.TemporaryDirectory() as scratch:
            main(scratch + "/cartpole")
