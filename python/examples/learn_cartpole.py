"""A network learns to balance Gymnasium's CartPole from rewards, and the session is replayed to its digest.

A neuron stands for each box of states. It excites two motors, which inhibit each other, so that one of them fires and
acts. After the action the area `reward` is stimulated if the pole's lean moved towards upright, or not, and dopamine
strengthens or weakens the synapses that had a part in it (rule stdp_dopamine). This reward tells of every single
action; CartPole's own, which is 1 for each step, does not.

Usage: python learn_cartpole.py [FOLDER [SEEDS]]. It needs gymnasium.
"""

import sys
import tempfile

import gymnasium
import numpy as np
import numpy.typing as npt

import burst

# Edges between boxes: of position (m), speed (m/s), angle (rad), angular speed (rad/s).
EDGES = ([-0.8, 0.8], [-0.5, 0.5], [-0.1, -0.04, 0, 0.04, 0.1], [-0.6, -0.2, 0.2, 0.6])
BOXES = int(np.prod([len(e) + 1 for e in EDGES]))
SHOW, ACT = 10, 20  # bursts: first the reward of the last action, then the next action
State = npt.NDArray[np.float32]


def build(seed: int, *, learn: bool = True) -> burst.Network:
    """The network; seed is that of its noise."""
    net = burst.Network("learner", timestep="1 ms", run_seed=seed, backend="cpu", threads=1, learn=learn)
    box = net.area("box", BOXES, threshold=0.5, leak=0)
    motor = net.area("motor", 2, threshold=3, leak=0.1, drive={"normal": {"mean": 0, "sd": 0.3}})
    net.area("reward", 1, threshold=0.5, leak=0)
    rule = {
        "rule": "stdp_dopamine", "da": "reward", "A_plus": 0.05, "A_minus": 0, "tau_plus": "20 ms", "tau_c": "10 ms",
        "tau_d": "10 ms", "base": -0.2, "reward": 1, "interval": f"{SHOW + ACT} ms", "bounds": [0.5, 1.5],
    }  # fmt: skip
    net.connect(box, motor, "all_to_all", weight=1, plasticity=rule)
    net.connect(motor, motor, ([0, 1], [1, 0]), weight=np.full(2, -6.0))
    return net


def box_of(state: State) -> int:
    """The box of a state."""
    number = 0
    for x, edges in zip(state, EDGES, strict=True):
        number = number * (len(edges) + 1) + int(np.searchsorted(edges, x))
    return number


def lean(state: State) -> float:
    """How far and how fast the pole leans to the right, and a little where the cart is."""
    position, speed, angle, turning = state
    return float(turning + 6 * angle + 0.1 * speed + 0.1 * position)


def session(net: burst.Network, episodes: int, seed: int) -> list[int]:
    """Lets the network act and learn, and gives the steps of each episode."""
    box, reward = net.input("box", largest=1), net.input("reward", largest=1, once=True)
    motor = net.output("motor")
    env = gymnasium.make("CartPole-v1")
    here, nothing = np.zeros(BOXES, np.float32), np.zeros(BOXES, np.float32)
    lengths = []
    net.step(ACT)  # so that weights change, every SHOW + ACT bursts, just after a reward
    for episode in range(episodes):
        state, _ = env.reset(seed=1000 * seed + episode)
        better, steps, ended = False, 0, False
        while not ended:
            net.step(SHOW, {box: nothing, reward: [better]})
            here[:] = 0
            here[box_of(state)] = 1
            counts = net.step(ACT, {box: here})[motor]
            before = lean(state)
            state, _, fell, cut, _ = env.step(int(counts[1] > counts[0]))
            better = (lean(state) - before) * before < 0
            steps, ended = steps + 1, fell or cut
        lengths.append(steps)
    return lengths


def main(folder: str, seeds: int = 1, episodes: int = 20) -> None:
    """Compares episodes of networks that do not learn with the last ten of networks that do; replays the first."""
    for seed in range(1, seeds + 1):
        with build(seed, learn=False) as net:
            before = np.mean(session(net, 10, seed))
        with build(seed) as net:
            lengths = session(net, episodes, seed)
            print(f"seed {seed}: {before:.0f} steps without learning; while it learns {lengths}")
            print(f"  mean of the last ten {np.mean(lengths[-10:]):.0f}, of at most 500")
            if seed == 1:
                run = net.save(folder)
                digest = run.replay()
                print(f"  digest {run.digest}, replayed {digest}")
                assert digest == run.digest


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1], *map(int, sys.argv[2:]))
    else:
        with tempfile.TemporaryDirectory() as scratch:
            main(scratch + "/cartpole")
