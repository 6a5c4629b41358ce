"""Serves the generators of `reasoning-gym` to espalier: `pip install reasoning-gym`, Python 3.11 or later.

A task is `{"name", "seed", "size"}`. What is seen first is `{"questions": [...]}`, or `{"problem"}` where there are none.
An action is `{"index", "answer"}`; its reward is the score that the generator gives the answer, from 0 to 1.

Answers are text of a model. Some scorers read them with `eval` or with `parse_expr` of SymPy, which evaluates too: here
both take numbers, lists and formulas, and nothing that could do something.
"""

import ast
import difflib
import functools
import os
import re
import sys

from espalier_environment import serve

LONGEST = 20_000
HARMLESS = (
    ast.Expression, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.List, ast.Tuple, ast.Set,
    ast.Dict, ast.Load,
)
FUNCTIONS = set("sin cos tan cot sec csc asin acos atan sinh cosh tanh exp log ln sqrt abs pi oo".split())


def careful_eval(text, *_places):
    tree = ast.parse(text.strip(), mode="eval")
    for node in ast.walk(tree):
        if not isinstance(node, HARMLESS):
            raise ValueError("Expected numbers and lists, got %s." % type(node).__name__)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Pow, ast.LShift)):
            expect_small(node.right)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            expect_numbers(node)
    return eval(compile(tree, "answer", "eval"), {"__builtins__": {}})


def expect_small(node):
    if not isinstance(node, ast.Constant) or not isinstance(node.value, int) or node.value > 100:
        raise ValueError("Expected a small exponent.")


def expect_numbers(node):
    """A list or a text that is repeated may take all memory."""
    for part in ast.walk(node):
        if isinstance(part, (ast.List, ast.Tuple, ast.Set, ast.Dict)):
            raise ValueError("Expected a product of numbers.")
        if isinstance(part, ast.Constant) and not isinstance(part.value, (int, float)):
            raise ValueError("Expected a product of numbers.")


def careful_parser(parse_expr):
    def careful(text, *places, **options):
        if isinstance(text, str):
            expect_formula(text)
        return parse_expr(text, *places, **options)

    return careful


def expect_formula(text):
    if len(text) > 2_000 or not re.fullmatch(r"[A-Za-z0-9\s+\-*/^().,=]*", text):
        raise ValueError("Expected a formula.")
    if re.search(r"\.\s*[A-Za-z]|\*\*\s*\(?\s*-?\s*(\d{3,}|\d+\s*\*\*|\()", text):
        raise ValueError("Expected a formula with small exponents.")
    for word in re.findall(r"[A-Za-z]+", text):
        if len(word) > 1 and word not in FUNCTIONS:
            raise ValueError("Expected a formula, got a word.")


@functools.lru_cache(maxsize=1)
def generators():
    """All generators, once answers can do no harm; nothing where the package is missing."""
    try:
        import sympy
        import sympy.parsing
        import sympy.parsing.sympy_parser

        parse_expr = careful_parser(sympy.parsing.sympy_parser.parse_expr)
        for module in (sympy, sympy.parsing, sympy.parsing.sympy_parser):
            module.parse_expr = parse_expr
        from reasoning_gym.factory import DATASETS
    except ImportError:
        return None
    for name, module in list(sys.modules.items()):
        if name.startswith("reasoning_gym"):
            module.eval = careful_eval
    return DATASETS


@functools.lru_cache(maxsize=4)
def dataset(name, seed, size):
    import reasoning_gym

    return reasoning_gym.create_dataset(name, seed=seed, size=size)


def problem(name):
    known = generators()
    if known is None:
        return "missing"
    if name in known:
        return None
    near = difflib.get_close_matches(name, known, 1)
    hint = "Did you mean `%s`?" % near[0] if near else "It has %s." % ", ".join(sorted(known))
    return "reasoning-gym has no generator `%s`. %s" % (name, hint)


class Generator:
    def __init__(self, task):
        self.about = task["name"], task["seed"], task["size"]

    def reset(self):
        found = problem(self.about[0])
        if found is not None:
            return {"problem": found}
        try:
            return {"questions": [entry["question"] for entry in dataset(*self.about)]}
        except Exception as error:
            return {"problem": "The generator `%s` makes no questions: %s." % (self.about[0], str(error).rstrip("."))}

    def step(self, action):
        questions = dataset(*self.about)
        answer = action["answer"][:LONGEST]
        try:
            score = float(questions.score_answer(answer, questions[action["index"]]))
        except Exception:
            # What a scorer cannot read is no right answer.
            score = 0.0
        return None, min(1.0, max(0.0, score)), True, {}


if __name__ == "__main__":
    # Some generators go through sets: they are the same for the same seed only where texts have the same hashes.
    if os.environ.get("PYTHONHASHSEED") != "0":
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(sys.executable, [sys.executable] + sys.argv)
    serve(Generator)
