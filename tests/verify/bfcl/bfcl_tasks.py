"""The multi-turn base tasks of BFCL as worlds that are searched, and a witness that looks at them from outside.

    python3 espalier_environment.py bfcl_tasks:World --http 0     worlds, one a task
    python3 bfcl_tasks.py                                         the witness: a question in JSON a line, an answer a line

What both do with the package is in `python/espalier_bfcl.py`. A call is a JSON text, `{"name", "arguments"}`, so that 1.0
stays apart from 1 outside of Python too.
"""

import functools
import inspect
import itertools
import json
import os
import pickle
import random
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../python"))

from espalier_bfcl import TASKS, Session, after, gold, judged, leaves, load, methods, run


def public(found):
    """What BFCL compares."""
    return {path: value for path, value in found.items() if not path.split("/")[1].startswith("_")}


class World(Session):
    """A task, done when the public state is the recorded one and each recorded answer has been given, as BFCL asks."""

    recorded = {}

    def __init__(self, task):
        self.task = task
        if task is not None and task not in World.recorded:
            instances, answers = after(task, gold(task))
            World.recorded[task] = public(leaves(instances)), answers

    def reset(self):
        self.begin(self.task)
        return {"answer": None, "leaves": leaves(self.instances)}

    def step(self, action):
        answer = self.call(action)
        found = leaves(self.instances)
        state, answers = World.recorded[self.task]
        done = public(found) == state and all(self.answers.count(each) >= answers.count(each) for each in answers)
        return {"answer": answer, "leaves": found}, float(done), done, {}


class Witness:
    """Answers what it is asked from instances of its own, and judges with BFCL's own checks."""

    def __init__(self):
        self.gold = {task: gold(task) for task in TASKS}
        self.values = {}
        self.calls = [json.loads(text) for calls in self.gold.values() for text in calls]
        for call in self.calls:
            for name, value in call["arguments"].items():
                self.values.setdefault(name, []).append(value)

    def tasks(self):
        told = []
        for task, calls in self.gold.items():
            instances, answers = after(task, calls)
            start, final = leaves(load(task)), public(leaves(instances))
            told.append({"id": task, "gold": calls, "answers": answers, "start": start, "final": final})
        return told

    def judge(self, task, calls):
        instances, answers = after(task, calls)
        return {"leaves": leaves(instances), **judged(task, instances, answers)}

    def wrong(self, task, calls, right, count, seed):
        """Calls that change the public state, each into another one, and none as the right call does."""
        chance = random.Random("%s %s %s" % (seed, task, json.dumps(calls)))
        instances, _ = after(task, calls)
        others = [] if right is None else [public(leaves(after(task, calls + [right])[0]))]
        pool = self.pool(task, seed)
        known = chance.sample(pool, len(pool))
        # Most of what changes the start changes other states too.
        return self.changing(task, instances, itertools.chain(known, self.random(task, chance)), others, count)

    @functools.lru_cache(2)
    def pool(self, task, seed):
        instances = load(task)
        return self.changing(task, instances, self.random(task, random.Random("%s %s" % (seed, task))), [], 40)

    def changing(self, task, instances, calls, others, count):
        """The first of the calls that change instances, each into a state that is none of the others."""
        kept = pickle.dumps(instances)
        found, states = [], [public(leaves(instances)), *others]
        for call in itertools.islice(calls, 3000):
            if call in self.gold[task]:
                continue
            tried = pickle.loads(kept)
            run(tried, call)
            try:
                state = public(leaves(tried))
            except ValueError:
                continue
            if state not in states:
                found.append(call)
                states.append(state)
            if len(found) == count:
                break
        return found

    def random(self, task, chance):
        """Calls of the task's classes, with arguments that are recorded here or elsewhere, or near to them."""
        known = {name: inspect.signature(method).parameters for name, method in methods(load(task)).items()}
        elsewhere = [call for call in self.calls if call["name"] in known]
        own = {name: value for text in self.gold[task] for name, value in json.loads(text)["arguments"].items()}
        while True:
            if chance.random() < 0.5:
                name, arguments = chance.choice(elsewhere).values()
            else:
                name = chance.choice(sorted(known))
                arguments = dict.fromkeys(known[name])
            changed = {key: self.value(key, old, own, chance) for key, old in arguments.items()}
            yield json.dumps({"name": name, "arguments": changed})

    def value(self, name, old, own, chance):
        value = old
        # Keys and names of this task, so that the call is not simply refused.
        if name in own and chance.random() < 0.7:
            value = own[name]
        elif not isinstance(old, (bool, int, float, list)) and chance.random() < 0.2:
            value = chance.choice(self.values["symbol"])
        elif old is None or chance.random() < 0.5:
            value = chance.choice(self.values.get(name, self.values["symbol"]))
        if type(value) in (int, float) and chance.random() < 0.5:
            value += chance.randrange(-9, 10)
        return value


if __name__ == "__main__":
    witness = Witness()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # What the classes print must not stand among the answers.
    sys.stdout = sys.stderr
    for line in sys.stdin:
        asked = json.loads(line)
        answers.write(json.dumps(getattr(witness, asked.pop("do"))(**asked)) + "\n")
        answers.flush()
