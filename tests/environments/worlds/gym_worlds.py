"""Environments shaped as in Gym, for tests."""

import random


class Walk:
    """A number from 1 that is to become 28."""

    def __init__(self, task=None):
        self.goal = (task or {}).get("goal", 28)
        self.number = None

    def reset(self):
        self.number = 1
        print("this is no line of the protocol")
        return self.number

    def step(self, action):
        self.number = {"add 1": self.number + 1, "double": self.number * 2}[action]
        done = self.number >= self.goal
        return self.number, float(self.number == self.goal), done, {}

    def fingerprint(self):
        return "number %d" % self.number


class Dice:
    """Random numbers from a seed, in the newer shape."""

    def __init__(self):
        self.random = random.Random()

    def reset(self, seed=None):
        self.random.seed(seed)
        return {"rolled": []}, {}

    def step(self, action):
        return {"rolled": {self.random.randrange(1000), 5000}}, 0, False, False, {}


class Locked:
    """What cannot be copied."""

    def __init__(self):
        self.handle = open(__file__)
        self.count = 0

    def reset(self):
        self.count = 0
        return 0

    def step(self, action):
        self.count += action
        return self.count, 0, False, {}

    def close(self):
        self.handle.close()
