"""A ROS 2 node whose network steps with the robot: amounts arrive on `senses`, counts of spikes leave on `motors`.

Usage: ros2_node.py GENOME SENSE MOTOR, such as `ros2_node.py reflex.yaml eye leg`. It needs rclpy, which is ROS 2's.
"""

import sys

import numpy as np
import rclpy
from rclpy.node import Node
from std_msgs.msg import Float32MultiArray, UInt32MultiArray

import burst


class Brain(Node):  # type: ignore[misc]
    """Steps a network by 20 ms in every 20 ms, with the amounts that have come last."""

    def __init__(self, net: burst.Network, sense: str, motor: str) -> None:
        super().__init__("brain")
        self.net = net
        self.eye, self.leg = net.input(sense, largest=5), net.output(motor)
        self.amounts = np.zeros(self.eye.entries, dtype=np.float32)
        self.motors = self.create_publisher(UInt32MultiArray, "motors", 1)
        self.create_subscription(Float32MultiArray, "senses", self.sense, 1)
        self.create_timer(0.020, self.step)

    def sense(self, message: Float32MultiArray) -> None:
        """Takes amounts, one for each entry of the input."""
        self.amounts = np.clip(np.asarray(message.data, dtype=np.float32), -5, 5)

    def step(self) -> None:
        """Runs 20 ms and tells how often each motor neuron has fired."""
        counts = self.net.step("20 ms", {self.eye: self.amounts})[self.leg]
        self.motors.publish(UInt32MultiArray(data=counts.tolist()))


if __name__ == "__main__":
    rclpy.init()
    with burst.load(sys.argv[1], out="brain-run") as net:
        rclpy.spin(Brain(net, sys.argv[2], sys.argv[3]))
