"""`datasets` reads the files: the same rows from both kinds, and each column with the type that was declared."""

import json
import math
import tempfile
from pathlib import Path
from typing import Any

from datasets import Dataset, Features, Json, List, Value, load_dataset

from cases import Case, Report, expect, expect_equal, load

_TYPES = {"boolean": "bool", "float": "float64", "int": "int64", "string": "string"}


def check_loading(report: Report, cases: list[Case]) -> None:
    """Two checks for each form, over all worlds and rules: each file alone, and all that have the same columns."""
    for family in sorted({case.family for case in cases}):
        own = [case for case in cases if case.family == family]
        report.check(f"datasets {family}", lambda own=own: _load_each(own))
        report.check(f"datasets {family}, as shards", lambda own=own: _load_shards(own))

    for kind in ("jsonl", "parquet"):
        root = cases[0].root
        whole = json.loads((root / f"whole-{kind}.json").read_text(encoding="utf-8"))
        for config in whole["configs"]:
            name = f"datasets card {config['name']} {kind}"
            report.check(name, lambda own=config, at=root / f"whole-{kind}": _load_card(at, own))


def feature_of(column: Any) -> Any:
    """What `datasets` should make of a column."""
    if column == "json":
        return Json()
    if isinstance(column, str):
        return Value(_TYPES[column])
    if "optional" in column:
        return feature_of(column["optional"])
    if "list" in column:
        return List(feature_of(column["list"]))
    return {name: feature_of(inner) for name, inner in column["struct"].items()}


def features_of(case: Case) -> Features:
    """What `datasets` should make of a file."""
    return Features({name: feature_of(column) for name, column in case.columns.items()})


def _load_each(cases: list[Case]) -> tuple[int, str]:
    bare = 0
    for case in cases:
        lines = _lines(case)
        expect_equal(len(lines), case.rows, f"the number of rows of {case.folder}")
        declared = features_of(case)
        loaded = case.load("jsonl")
        for name, feature in loaded.features.items():
            expect(_fits(feature, declared[name]), f"{name} of {case.folder} is read as {feature}")
        bare += sum(_is_bare(feature) for feature in loaded.features.values())
        _expect_rows(loaded, lines, case.folder)
        for kind, features in (("parquet", None), ("jsonl", declared)):
            loaded = load(kind, case.files(kind), features)
            expect_equal(_plain(loaded.features), _plain(declared), f"the columns of {case.folder}/{kind}")
            _expect_rows(loaded, lines, f"{case.folder}/{kind}")
    rows = sum(case.rows for case in cases)
    return rows, f"{len(cases)} files of each kind, {bare} columns without a value in their file"


def _load_shards(cases: list[Case]) -> tuple[int, str]:
    """Files with the same columns are shards of one dataset, whichever comes first."""
    groups: dict[str, list[Case]] = {}
    for case in cases:
        groups.setdefault(json.dumps(case.columns), []).append(case)
    for group in groups.values():
        declared = features_of(group[0])
        for order in (group, group[::-1]):
            lines = [line for case in order for line in _lines(case)]
            for kind, features in (("parquet", None), ("jsonl", declared)):
                loaded = load(kind, [file for case in order for file in case.files(kind)], features)
                _expect_rows(loaded, lines, f"{kind} of {group[0].family}")
    return sum(case.rows for case in cases), f"{len(groups)} datasets of each kind"


def _load_card(folder: Path, config: dict[str, Any]) -> tuple[int, str]:
    """A configuration is loaded by the name of the folder and its own, as its card tells."""
    with tempfile.TemporaryDirectory() as cache:
        loaded = load_dataset(str(folder), config["name"], cache_dir=cache, keep_in_memory=True)
    expect_equal({name: rows.num_rows for name, rows in loaded.items()}, _splits(config), "the rows of the splits")
    declared = Features({name: feature_of(column) for name, column in config["columns"].items()})
    for split, rows in loaded.items():
        expect_equal(_plain(rows.features), _plain(declared), f"the columns of {split}")
    shards = sum(len(split["files"]) for split in config["splits"])
    problems = [set(rows["problem_id"]) for rows in loaded.values() if "problem_id" in rows.column_names]
    expect(sum(map(len, problems)) == len(set().union(*problems)), "a problem is in two splits")
    return config["rows"], f"{len(loaded)} splits, {shards} shards"


def _splits(config: dict[str, Any]) -> dict[str, int]:
    return {split["name"]: split["rows"] for split in config["splits"]}


def _lines(case: Case) -> list[dict[str, Any]]:
    texts = (Path(file).read_text(encoding="utf-8") for file in case.files("jsonl"))
    return [json.loads(line) for text in texts for line in text.split("\n") if line]


def _expect_rows(loaded: Dataset, lines: list[dict[str, Any]], where: str) -> None:
    # Where JSON lines hold values of any shape, `datasets` writes all of them anew, with ten digits of a number.
    tolerance = 0 if "parquet" in where else 1e-9
    expect_equal(loaded.num_rows, len(lines), f"the number of rows of {where}")
    for got, line in zip(loaded, lines, strict=True):
        if not _is_same(got, line, tolerance):
            expect_equal(got, line, f"a row of {where}")
            expect_equal(str(got), str(line), f"the types in a row of {where}")


def _fits(got: Any, declared: Any) -> bool:
    """Whether a type read from the values is the declared one, as far as there are values to tell it from."""
    if isinstance(declared, Json) or _plain(got) == _plain(Value("null")):
        return True
    if isinstance(declared, List):
        return isinstance(got, List) and _fits(got.feature, declared.feature)
    if isinstance(declared, dict):
        return (
            isinstance(got, dict) and list(got) == list(declared) and all(_fits(got[key], declared[key]) for key in got)
        )
    return _plain(got) == _plain(declared)


def _is_same(got: Any, line: Any, tolerance: float) -> bool:
    """Whether values and their types are equal, numbers as nearly as the tolerance says."""
    if isinstance(line, dict) and isinstance(got, dict):
        return got.keys() == line.keys() and all(_is_same(got[key], line[key], tolerance) for key in line)
    if isinstance(line, list) and isinstance(got, list):
        return len(got) == len(line) and all(_is_same(a, b, tolerance) for a, b in zip(got, line, strict=True))
    if isinstance(line, float) and isinstance(got, float):
        return math.isclose(got, line, rel_tol=tolerance, abs_tol=tolerance)
    return type(got) is type(line) and got == line


def _is_bare(feature: Any) -> bool:
    return "null" in str(feature)


def _plain(feature: Any) -> str:
    """A feature as text: a long string is a string."""
    return str(feature).replace("large_string", "string")
