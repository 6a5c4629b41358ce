"""Serves Python environments to espalier, over a pipe or HTTP. Python 3.9 or later, nothing else.

    from espalier_environment import serve
    serve(MyEnvironment)

`MyEnvironment(task)` returns something shaped as in Gym: `reset()` returns an observation or `(observation, info)`, and
`step(action)` returns `(observation, reward, done, info)` or `(observation, reward, terminated, truncated, info)`. What
it holds is copied with `copy.deepcopy`, so that a search need not do everything again; what cannot be copied so is done
again from `reset()`. A method `fingerprint()` may tell how it stands, as a text: equal texts are equal states.

What it prints goes to the errors, and does not disturb the protocol. An exception is told, and ends this instance: an
action that is not allowed is better told as an observation.

Without a line of Python: `python3 espalier_environment.py package.module:MyEnvironment [--http PORT]`.
"""

import argparse
import copy
import importlib
import inspect
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

VERSION = 1
LONGEST = 16 * 1024 * 1024


class Server:
    """Environments by handle, and what is asked of them."""

    def __init__(self, create, seed=0, forks=None):
        self.create = create
        self.seed = seed
        self.forks = forks
        self.environments = {}
        self.count = 0
        self.lock = threading.Lock()

    def answer(self, line):
        """The answer to one line, as one line."""
        number = None
        try:
            request = json.loads(line)
            number = request["id"]
            method = getattr(self, "do_" + request["method"], None)
            if method is None:
                raise ValueError("There is no method %r." % request["method"])
            with self.lock:
                result = method(**request.get("params", {}))
            return json.dumps({"id": number, "result": result}, default=plain, allow_nan=False)
        except Exception as error:
            message = "%s: %s" % (type(error).__name__, error)
            return json.dumps({"id": number, "error": {"message": message}})

    def do_hello(self, version, task=None):
        if version != VERSION:
            raise ValueError("Expected version %d of the protocol, got %r." % (VERSION, version))
        if self.forks is None:
            self.forks = can_copy(self.create(task))
        return {"version": VERSION, "forks": self.forks}

    def do_reset(self, task=None):
        environment = self.create(task)
        takes_seed = "seed" in inspect.signature(environment.reset).parameters
        first = environment.reset(seed=self.seed) if takes_seed else environment.reset()
        is_pair = isinstance(first, tuple) and len(first) == 2 and isinstance(first[1], dict)
        observation = first[0] if is_pair else first
        return {"handle": self.keep(environment), "seen": seen(environment, observation)}

    def do_step(self, handle, action):
        environment = self.environments[handle]
        observation, reward, *ends = environment.step(action)
        told = seen(environment, observation)
        told["reward"] = float(reward)
        # Either (done, info) or (terminated, truncated, info).
        told["terminal"] = any(bool(end) for end in ends[:-1])
        return told

    def do_fork(self, handle):
        return {"handle": self.keep(copy.deepcopy(self.environments[handle]))}

    def do_restore(self, handle, **source):
        self.environments[handle] = copy.deepcopy(self.environments[source["from"]])
        return {}

    def do_close(self, handle):
        environment = self.environments.pop(handle, None)
        close = getattr(environment, "close", None)
        if close is not None:
            close()
        return {}

    def keep(self, environment):
        self.count += 1
        handle = str(self.count)
        self.environments[handle] = environment
        return handle


def seen(environment, observation):
    told = {"observation": observation}
    fingerprint = getattr(environment, "fingerprint", None)
    if fingerprint is not None:
        told["fingerprint"] = str(fingerprint())
    return told


def can_copy(environment):
    try:
        copy.deepcopy(environment)
        return True
    except Exception:
        return False


def plain(value):
    """Arrays and numbers of NumPy, sets and bytes as JSON."""
    for name in ("tolist", "item"):
        if hasattr(value, name):
            return getattr(value, name)()
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    raise TypeError("%s cannot be told as JSON." % type(value).__name__)


def serve(create, seed=0, forks=None):
    """Serves over the standard input and output, until the input ends.

    `create(task)` makes an environment. `seed` is given to a `reset` that takes one, so that it does the same each time.
    `forks` tells whether `copy.deepcopy` copies all that it holds; left out, it is tried.
    """
    # What the environment prints, from C too, must not stand among the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    server = Server(create, seed, forks)
    for line in sys.stdin.buffer:
        answers.write(server.answer(line) + "\n")
        answers.flush()


def serve_http(create, port, seed=0, forks=None, host="127.0.0.1"):
    """Serves over HTTP: each request is one line, posted. Whoever can reach the port can use it."""
    server = Server(create, seed, forks)

    class Handler(BaseHTTPRequestHandler):
        # A connection is kept for the next request, and no part of an answer waits for another.
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self):
            length = int(self.headers.get("content-length", "0"))
            if not 0 < length <= LONGEST:
                self.send_error(413)
                return
            body = server.answer(self.rfile.read(length)).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    listening = ThreadingHTTPServer((host, port), Handler)
    print("http://%s:%d" % listening.server_address[:2], file=sys.stderr, flush=True)
    listening.serve_forever()


def found(path, refuse):
    """What makes an environment, by its module and its name."""
    module, _, name = path.partition(":")
    told = "Expected package.module:name of what makes an environment, got %r" % path
    if module == "" or name == "":
        refuse(told + ".")
    try:
        made = getattr(importlib.import_module(module), name, None)
    except ModuleNotFoundError as error:
        # A module that this one imports is another matter.
        if not (module + ".").startswith("%s." % error.name):
            raise
        refuse("%s: there is no module %r in %s or where Python looks." % (told, error.name, os.getcwd()))
    if not callable(made):
        refuse("%s: nothing in %s is called %r and can be called." % (told, module, name))
    return made


def main():
    parser = argparse.ArgumentParser(description="Serves a Python environment to espalier.")
    parser.add_argument("environment", help="package.module:name of what makes an environment")
    parser.add_argument("--http", type=int, metavar="PORT", help="serve over HTTP; 0 takes a free port")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    sys.path.insert(0, os.getcwd())
    made = found(options.environment, parser.error)
    takes_task = len(inspect.signature(made).parameters) > 0
    create = made if takes_task else lambda task: made()
    if options.http is None:
        serve(create, options.seed)
    else:
        serve_http(create, options.http, options.seed)


if __name__ == "__main__":
    main()
