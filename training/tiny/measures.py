"""The numbers of an evaluation, as plain functions."""

import math
from collections.abc import Sequence

Z95 = 1.959963984540054


def wilson(successes: int, trials: int, z: float = Z95) -> tuple[float, float]:
    """The Wilson interval of a share: 95 % as a rule."""
    if trials == 0:
        return 0.0, 1.0
    share = successes / trials
    centre = share + z * z / (2 * trials)
    spread = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


def rate(hits: Sequence[bool]) -> dict[str, float | int | list[float]]:
    """A share with its count and interval."""
    low, high = wilson(sum(hits), len(hits))
    share = sum(hits) / len(hits) if hits else 0.0
    return {"rate": round(share, 4), "n": len(hits), "interval": [round(low, 4), round(high, 4)]}


def balanced_accuracy(labels: Sequence[str], predictions: Sequence[str]) -> float:
    """The mean over the labels of the share that is recognised."""
    recalls = []
    for label in sorted(set(labels)):
        of_label = [prediction for truth, prediction in zip(labels, predictions, strict=True) if truth == label]
        recalls.append(sum(prediction == label for prediction in of_label) / len(of_label))
    return sum(recalls) / len(recalls)


def majority_share(labels: Sequence[str]) -> float:
    """What always giving the most frequent label would reach."""
    return max(labels.count(label) for label in set(labels)) / len(labels)


def calibration_error(probabilities: Sequence[float], outcomes: Sequence[bool], bins: int = 10) -> float:
    """The expected calibration error: in bins of equal width, how far the mean probability is from the share."""
    members: list[list[tuple[float, bool]]] = [[] for _ in range(bins)]
    for probability, outcome in zip(probabilities, outcomes, strict=True):
        members[min(bins - 1, int(probability * bins))].append((probability, outcome))
    gaps = [abs(sum(p for p, _ in some) - sum(o for _, o in some)) for some in members]
    return sum(gaps) / len(probabilities)


def area_under_curve(scores: Sequence[float], outcomes: Sequence[bool]) -> float | None:
    """The share of pairs in which the positive scores higher, ties half; nothing where one class is missing."""
    positives = [score for score, outcome in zip(scores, outcomes, strict=True) if outcome]
    negatives = [score for score, outcome in zip(scores, outcomes, strict=True) if not outcome]
    if not positives or not negatives:
        return None
    wins = sum((p > n) + 0.5 * (p == n) for p in positives for n in negatives)
    return wins / (len(positives) * len(negatives))
