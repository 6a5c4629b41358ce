"""Serves the multi-turn base tasks of BFCL to espalier: `pip install --no-deps bfcl-eval mpmath`, Python 3.10 or later.

`{"tasks": true}` shows all tasks: `id`, what the user asks for in each turn as `requests`, and what may be called as
`functions`. `{"begin": id}` begins one. From there `{"call": text}` calls a public method of one of its instances, and shows
what it answers. `{"judge": true}` shows whether the state and the answers are as BFCL asks. No step is rewarded or ends:
what was recorded is told by nothing but the judgement.

A call is a JSON text, `{"name", "arguments"}`: the name of a method, and arguments as they are. No text is executed.
"""

import ast
import copy
import functools
import hashlib
import importlib
import inspect
import json
import os
import pickle
import random

import bfcl_eval
from bfcl_eval.constants.executable_backend_config import (
    CLASS_FILE_PATH_MAPPING,
    MULTI_TURN_FUNC_DOC_FILE_MAPPING,
    STATELESS_CLASSES,
)
from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker import response_checker, state_checker

from espalier_environment import serve

DATA = os.path.join(os.path.dirname(bfcl_eval.__file__), "data")
# Texts about the class, and a table that no method changes.
CONSTANT = {"_api_description", "_flight_cost_lookup"}
# The types of BFCL that JSON schemas call otherwise.
TYPES = {"dict": "object", "float": "number", "tuple": "array"}


def lines(path):
    with open(os.path.join(DATA, path), encoding="utf-8") as held:
        return [json.loads(line) for line in held]


def rows(path):
    return {row["id"]: row for row in lines(path)}


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
    method = methods(instances).get(call["name"])
    if method is None:
        return "Error during execution: there is no %s." % call["name"]
    try:
        answer = method(**{**defaults(method), **call["arguments"]})
    except Exception as error:
        return "Error during execution: %s" % error
    return json.dumps(answer, default=str) if isinstance(answer, dict) else str(answer)


@functools.lru_cache(maxsize=None)
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


def judged(task, instances, answers):
    """Whether the state is the recorded one and each recorded answer was given, by BFCL's own checks."""
    wanted, recorded = after(task, gold(task))
    return {
        "state": state_checker(instances, wanted)["valid"],
        "answers": response_checker(answers, recorded, 0)["valid"],
    }


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


class Session:
    """The instances of a task, and what its calls have answered."""

    # Each task is loaded once: what a search does to it would be seen at the next start.
    loaded = {}

    def begin(self, task):
        if task not in Session.loaded:
            Session.loaded[task] = load(task)
        self.task = task
        self.instances = copy.deepcopy(Session.loaded[task])
        self.answers = []

    def call(self, text):
        self.answers.append(run(self.instances, text))
        return self.answers[-1]

    def __deepcopy__(self, memo):
        """The same, in a fifth of the time."""
        return pickle.loads(pickle.dumps(self))

    def fingerprint(self):
        """All that the way on depends on: what the instances hold, and what was answered."""
        held = json.dumps([self.task, leaves(self.instances), self.answers])
        return hashlib.sha256(held.encode()).hexdigest()


def schema(described):
    """The JSON schema of what BFCL describes."""
    kept = {key: described[key] for key in ("description", "default", "enum", "required") if key in described}
    kept["type"] = TYPES.get(described["type"], described["type"])
    if "properties" in described:
        kept["properties"] = {name: schema(each) for name, each in described["properties"].items()}
    if "items" in described:
        kept["items"] = schema(described["items"])
    return kept


@functools.lru_cache(maxsize=None)
def described(name):
    """The functions of a class, as BFCL describes them."""
    docs = lines("multi_turn_func_doc/" + MULTI_TURN_FUNC_DOC_FILE_MAPPING[name])
    return [
        {"name": doc["name"], "description": doc["description"], "input": schema(doc["parameters"])} for doc in docs
    ]


def shown(task):
    row = TASKS[task]
    excluded = row.get("excluded_function", [])
    functions = [each for name in row["involved_classes"] for each in described(name) if each["name"] not in excluded]
    requests = ["\n".join(message["content"] for message in turn) for turn in row["question"]]
    return {"id": task, "requests": requests, "functions": functions}


class Tasks(Session):
    """All tasks: which one is begun is an action, so that one process serves all searches."""

    def reset(self):
        self.task, self.instances, self.answers = None, {}, []
        return None

    def step(self, action):
        return self.seen(**action), 0.0, False, {}

    def seen(self, tasks=None, begin=None, call=None, judge=None):
        if tasks:
            return [shown(task) for task in TASKS]
        if begin is not None:
            return self.begin(begin)
        if judge:
            return judged(self.task, self.instances, self.answers)
        return self.call(call)


if __name__ == "__main__":
    serve(lambda task: Tasks())
