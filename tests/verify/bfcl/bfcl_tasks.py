"""The multi-turn base tasks of BFCL as worlds that are searched, and a witness that looks at them from outside.

    python3 espalier_environment.py bfcl_tasks:World --http 0     worlds, one a task
    python3 bfcl_tasks.py                                         the witness: a question in JSON a line, an answer a line

A call is a JSON text, `{"name", "arguments"}`, so that 1.0 stays apart from 1 outside of Python too. It runs a public
method of one of the task's instances. No text is executed.
"""

import ast
import copy
import functools
import hashlib
import importlib
import inspect
import itertools
import json
import os
import pickle
import random
import sys

import bfcl_eval
from bfcl_eval.constants.executable_backend_config import CLASS_FILE_PATH_MAPPING, STATELESS_CLASSES
from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker import response_checker, state_checker

DATA = os.path.join(os.path.dirname(bfcl_eval.__file__), "data")
# Texts about the class, and a table that no method changes.
CONSTANT = {"_api_description", "_flight_cost_lookup"}


def rows(path):
    with open(os.path.join(DATA, path), encoding="utf-8") as lines:
        return {row["id"]: row for row in map(json.loads, lines)}


TASKS = rows("BFCL_v4_multi_turn_base.json")
ANSWERS = rows("possible_answer/BFCL_v4_multi_turn_base.json")


def load(task):
    """The instances of a task at its start."""
    instances = {}
    for name in TASKS[task]["involved_classes"]:
        instances[name] = getattr(importlib.import_module(CLASS_FILE_PATH_MAPPING[name]), name)()
        if name not in STATELESS_CLASSES:
            scenario = copy.deepcopy(TASKS[task]["initial_config"].get(name, {}))
            instances[name]._load_scenario(scenario, long_context=False)
    return instances


def methods(instances):
    """What may be called, by name."""
    return {
        name: method
        for instance in instances.values()
        for name, method in inspect.getmembers(instance, inspect.ismethod)
        if not name.startswith("_")
    }


def defaults(method):
    """What is left out, as it was written: the package puts mentions into a list that all calls share."""
    given = inspect.signature(method).parameters.items()
    return copy.deepcopy({name: each.default for name, each in given if each.default is not each.empty})


def run(instances, text):
    """What a call answers, as BFCL writes it."""
    call = json.loads(text)
    held = (getattr(instance, call["name"], None) for instance in instances.values())
    method = next(filter(inspect.ismethod, held), None)
    if method is None or call["name"].startswith("_"):
        return "Error during execution: there is no %s." % call["name"]
    try:
        answer = method(**{**defaults(method), **call["arguments"]})
    except Exception as error:
        return "Error during execution: %s" % error
    return json.dumps(answer, default=str) if isinstance(answer, dict) else str(answer)


def gold(task):
    """The recorded calls of all turns, their arguments by name."""
    known = methods(load(task))
    calls = []
    for text in sum(ANSWERS[task]["ground_truth"], []):
        call = ast.parse(text, mode="eval").body
        values = [ast.literal_eval(value) for value in call.args]
        named = {each.arg: ast.literal_eval(each.value) for each in call.keywords}
        bound = inspect.signature(known[call.func.id]).bind(*values, **named)
        calls.append(json.dumps({"name": call.func.id, "arguments": dict(bound.arguments)}))
    return calls


def after(task, calls):
    """New instances after calls, and what these answered."""
    instances = load(task)
    return instances, [run(instances, call) for call in calls]


def leaves(instances):
    """Everything that instances hold, by path. The second part of a private one begins with an underscore."""
    found = {}

    def look(path, value):
        if path.count("/") > 30:
            raise ValueError("A directory stands in itself.")
        if isinstance(value, random.Random):
            found[path] = hashlib.sha256(repr(value.getstate()).encode()).hexdigest()
        elif isinstance(value, (dict, list, tuple)) and value:
            items = value.items() if isinstance(value, dict) else enumerate(value)
            for key, item in items:
                look("%s/%s" % (path, key), item)
        elif hasattr(value, "__dict__"):
            # Directories know those above them, and files when they were written.
            fields = {key: item for key, item in vars(value).items() if key not in ("parent", "_last_modified")}
            look(path, fields)
        else:
            found[path] = value if isinstance(value, (str, int, float, bool, type(None))) else str(value)

    for name, instance in instances.items():
        for key, value in vars(instance).items():
            if key == "_current_dir":
                value = instance.pwd()["current_working_directory"]
            if key not in CONSTANT:
                look("%s/%s" % (name, key), value)
    return found


def public(found):
    """What BFCL compares."""
    return {path: value for path, value in found.items() if not path.split("/")[1].startswith("_")}


class World:
    """A task, done when the public state is the recorded one and each recorded answer has been given, as BFCL asks."""

    # Each task is loaded once: what a search does to it would be seen at the next start.
    loaded = {}
    recorded = {}

    def __init__(self, task):
        self.task = task
        if task is not None and task not in World.loaded:
            World.loaded[task] = load(task)
            instances, answers = after(task, gold(task))
            World.recorded[task] = public(leaves(instances)), answers

    def reset(self):
        self.instances = copy.deepcopy(World.loaded[self.task])
        self.answers = []
        return {"answer": None, "leaves": leaves(self.instances)}

    def step(self, action):
        answer = run(self.instances, action)
        self.answers.append(answer)
        found = leaves(self.instances)
        state, answers = World.recorded[self.task]
        done = public(found) == state and all(self.answers.count(each) >= answers.count(each) for each in answers)
        return {"answer": answer, "leaves": found}, float(done), done, {}

    def __deepcopy__(self, memo):
        """The same, in a fifth of the time."""
        return pickle.loads(pickle.dumps(self))

    def fingerprint(self):
        """All that the way on depends on: what the instances hold, and what was answered."""
        held = json.dumps([leaves(self.instances), self.answers])
        return hashlib.sha256(held.encode()).hexdigest()


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
        wanted, recorded = after(task, self.gold[task])
        return {
            "leaves": leaves(instances),
            "state": state_checker(instances, wanted)["valid"],
            "answers": response_checker(answers, recorded, 0)["valid"],
        }

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
