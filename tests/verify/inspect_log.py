"""Reads the logs of a folder as Inspect AI does, and compares them with the searches that they are made of."""

import json
import math
import sys
from pathlib import Path

import inspect_ai
from inspect_ai.log import list_eval_logs, read_eval_log, write_eval_log
from inspect_ai.scorer import value_to_float

place = Path(sys.argv[1])
told = json.loads((place / "cells.json").read_text())
report, cells = told["report"], told["cells"]
arms = report["points"] + report["guided"]
paths = [place / "logs" / file for file in told["files"]]
assert len(paths) == len(arms), (len(paths), len(arms))
assert len(list_eval_logs(str(place / "logs"))) == len(arms)
model = report["model"].replace(":", "/")
searches = 0

for path, arm in zip(paths, arms):
    log = read_eval_log(str(path))
    own = [c for c in cells if c["method"] == arm["method"] and c["budget"] == arm["budget"]]
    assert log.version == 2 and log.status == "success"
    assert log.eval.task == report["task"]["name"] and log.eval.solver == arm["method"]
    assert log.eval.model == model and log.eval.config.epochs == report["seeds"]
    assert log.eval.task_args["budget"] == arm["budget"]
    assert log.samples is not None and len(log.samples) == len(own) == log.results.total_samples
    assert len({(s.id, s.epoch) for s in log.samples}) == len(own)
    for sample, cell in zip(log.samples, own):
        searches += 1
        assert (sample.id, sample.epoch) == (cell["instance"], cell["attempt"] + 1)
        if cell["status"] == "unscored":
            assert not sample.scores
        else:
            assert value_to_float()(sample.scores["espalier"].value) == (1.0 if cell["right"] else 0.0)
            assert sample.scores["espalier"].explanation == cell.get("reason")
        assert sample.output.completion == cell.get("answer", "")
        usage = sample.model_usage[model]
        assert usage.input_tokens + usage.input_tokens_cache_read == cell["inputTokens"]
        assert usage.input_tokens_cache_read == cell["cachedTokens"]
        assert usage.output_tokens == cell["outputTokens"]
        assert usage.total_tokens == cell["inputTokens"] + cell["outputTokens"]
        assert usage.total_cost == cell["usd"]
        assert sample.metadata["status"] == cell["status"] and sample.metadata["tree"] == cell["tree"]
        assert sample.total_time is None if cell["ms"] is None else math.isclose(sample.total_time, cell["ms"] / 1000)
    # The sum of the log is what Inspect AI makes of its samples.
    summed = None
    for sample in log.samples:
        usage = sample.model_usage[model]
        summed = usage if summed is None else summed + usage
    whole = log.stats.model_usage[model]
    assert whole.input_tokens == summed.input_tokens and whole.total_tokens == summed.total_tokens
    if whole.total_cost is not None:
        assert math.isclose(whole.total_cost, summed.total_cost)
    if arm["n"] == 0:
        assert log.results.scores == []
    else:
        [score] = log.results.scores
        name = "pass_at_k" if arm in report["guided"] else "accuracy"
        assert score.metrics[name].value == arm["accuracy"] and score.scored_samples == arm["n"]
    # It is whole for Inspect AI: written in its own format and read again, it is the same.
    copy = place / "copy.eval"
    write_eval_log(log, str(copy))
    again = read_eval_log(str(copy))
    assert len(again.samples) == len(log.samples)
    assert {(s.id, s.epoch) for s in again.samples} == {(s.id, s.epoch) for s in log.samples}

print(f"ok {place.name}: {len(paths)} logs, {searches} samples, Inspect AI {inspect_ai.__version__}")
