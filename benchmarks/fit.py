"""The weights of the search, fitted to questions of which the right facts are known.

    python -m benchmarks.fit [--provider NAME ...] [--more FILE ...] [--features FILE]

The score of a fact is the logistic of a sum: kinds of evidence, each times its weight in the table
`ranking_weight`. This program reads the sets of benchmarks.everyday, the histories with a period in
the question, and the LoCoMo conversations if their file is there. It fills a memory with each, and
takes the evidence of the best 100 facts of each question from search_memory().

The order comes first. The weights make each right fact as likely as they can beside all wrong facts
of its question (a softmax), and each kind of set counts the same. How much better a neighbour is
depends on the weights themselves, so this is done a few times. Weights are shared by all models,
apart from that of `meaning`. The first provider gives the row `*`, each other one a row of its own.

Then a slope and a base turn the sum into a score, so that the table of scores in docs/search.md
holds: of the facts from 0.9, 90 % are right, and 2 % of the questions with an answer get an empty
one. Each model has a base of its own. The weight of `unheard` has no effect on the order, so it
comes from a logistic regression.

The figures after the fit are cross-validated: the weights for a conversation, a memory of lives, or
a language of histories are fitted to the others. Kinds in brackets have R@10, others the share of
questions with a right fact first, and among three. `--more` adds files in the form of
benchmarks.everyday. The test half of benchmarks.everyday is refused. `--features` is a file (.npz)
that keeps the evidence, and the weights of now, for the next run.
"""

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import numpy as np
from numpy.typing import NDArray

from benchmarks.everyday import print_table
from benchmarks.recall import DATA
from benchmarks.support.evidence import (
    COLUMNS,
    RECALL,
    WEIGHTS,
    Evidence,
    Numbers,
    gather,
    read_conversations,
    read_histories,
    read_lives,
)
from benchmarks.support.place import open_folder, tell_machine
from textrawl.embedded.cluster import run_embedded

Marks = NDArray[np.bool_]

PROVIDERS = ("encoder", "local")
SHARED = ("words", "about", "beside", "period", "better")
ASKED = ("unheard",)  # evidence that all facts of a question share
SCALED = ("lives", "first set")  # the kinds of the table of scores
DEEP, SHOWN, RIVALS, FOLDS = 10, 5, 50, 5
ROUNDS, STEPS, RIDGE = 3, 10, 0.01
RIGHT, EMPTY = 0.9, 0.02  # of the facts with a score of 0.9; of the questions with an answer
HIGH, LEAST = math.log(0.9 / 0.1), math.log(0.4 / 0.6)  # log-odds of scores: see answer_bar()
USUAL = 0.3  # slope of the scale with which the fit starts
CURVE = (0, 1, 2, 3, 5, 10)  # per cent


class Softmax:
    """The likelihood of each right fact among the wrong facts of its question."""

    def __init__(self, of: NDArray[np.int64], right: Marks, shares: Numbers) -> None:
        """`of` is the question of each row, and `shares` how much its right facts count."""
        _, self.starts, self.of = np.unique(of, return_index=True, return_inverse=True)
        self.right, self.share = np.flatnonzero(right), shares[right]
        self.wrong, self.asked = ~right, self.of[right]

    def differentiate(self, columns: Numbers, weights: Numbers) -> tuple[Numbers, Numbers]:
        """Return gradient and Hessian of the negative logarithm."""
        sums = columns @ weights
        power = np.exp(sums - np.maximum.reduceat(sums, self.starts)[self.of])
        wrong = power * self.wrong
        whole = np.add.reduceat(wrong, self.starts)[self.asked] + power[self.right]
        parts = np.zeros(len(self.starts))
        np.add.at(parts, self.asked, self.share / whole)
        chance = wrong * parts[self.of]
        chance[self.right] = self.share * power[self.right] / whole
        mean = np.add.reduceat(wrong[:, None] * columns, self.starts)[self.asked]
        mean = (mean + power[self.right, None] * columns[self.right]) / whole[:, None]
        slope = chance @ columns - self.share @ columns[self.right]
        bend = columns.T @ (chance[:, None] * columns) - mean.T @ (self.share[:, None] * mean)
        return slope, bend


class Problem:
    """The evidence of all questions as one table, with the columns that the weights multiply.

    The columns are `meaning` of each model, and those of SHARED. The last one, `better`, depends on
    the weights of the others.
    """

    def __init__(self, evidence: Evidence) -> None:
        """Join the rows, and find the neighbours of each fact."""
        table = np.concatenate(evidence.rows)
        column = dict(zip(COLUMNS, table.T, strict=True))
        self.starts = np.cumsum([0, *(len(rows) for rows in evidence.rows[:-1])])
        self.kinds, self.groups, models, counts = map(
            np.array, zip(*evidence.questions, strict=True)
        )
        self.models: NDArray[np.int64] = models
        self.counts: NDArray[np.int64] = counts
        self.of = np.repeat(np.arange(len(self.starts)), [len(rows) for rows in evidence.rows])
        self.right = column["right"] > 0
        self.asked = np.column_stack([column[name] for name in ASKED])
        self.order = column["ordinal"]
        places = [models[self.of] == place for place in range(len(evidence.models))]
        self.own = np.column_stack(
            [column["meaning"] * place for place in places] + [column[name] for name in SHARED[:-1]]
        )
        self.near = self._find_neighbours()
        found = self.sum_each(self.right.astype(float))
        self.shares = np.divide(1, found, out=np.zeros_like(found), where=found > 0)
        for kind in set(self.kinds):
            members = self.kinds == kind
            self.shares[members] /= max(1, np.count_nonzero(found[members]))

    def _find_neighbours(self) -> NDArray[np.int64]:
        at = {key: row for row, key in enumerate(zip(self.of, self.order, strict=True))}
        steps = (-2, -1, 1, 2)
        keys = zip(self.of, self.order, strict=True)
        return np.array([[at.get((q, o + step), -1) for step in steps] for q, o in keys])

    def sum_each(self, values: Numbers) -> Numbers:
        """Return the sum of the values of each question."""
        return np.add.reduceat(values, self.starts, axis=0)

    def columns(self, weights: Numbers) -> Numbers:
        """Return the columns, with `better` for these weights."""
        own = self.own @ weights[:-1]
        best = np.append(own, -np.inf)[self.near].max(axis=1)
        return np.column_stack([self.own, np.maximum(0, best - own)])

    def add_up(self, weights: Numbers) -> Numbers:
        """Return the sum of the evidence of each fact, without base and ASKED."""
        return self.columns(weights) @ weights

    def fit(self, start: Numbers, used: Marks, active: Marks, ridge: float = RIDGE) -> Numbers:
        """Return the weights that make the right facts of the used questions most likely."""
        weights = start * active
        kept = self.right | (self.rank(self.add_up(start)) < RIVALS)
        kept &= (used & (self.shares > 0))[self.of]
        softmax = Softmax(self.of[kept], self.right[kept], self.shares[self.of[kept]])
        for _ in range(ROUNDS):
            columns = self.columns(weights)[kept][:, active]
            for _ in range(STEPS):
                slope, bend = softmax.differentiate(columns, weights[active])
                slope, bend = slope + ridge * weights[active], bend + ridge * np.eye(len(slope))
                step = np.linalg.solve(bend, slope)
                weights[active] -= step
                if np.abs(step).max() < 0.01:
                    break
        return weights

    def rank(self, sums: Numbers) -> NDArray[np.int64]:
        """Return the place of each fact among those of its question, from 0. Newer facts win."""
        order = np.lexsort((-self.order, -sums, self.of))
        places = np.empty(len(sums), int)
        places[order] = np.arange(len(sums)) - self.starts[self.of]
        return places

    def measure(self, sums: Numbers) -> dict[tuple[str, int], tuple[float, float]]:
        """Return the percentages of each kind and model: first and in three, or R@10 twice."""
        places = self.rank(sums)
        hits = [self.sum_each((self.right & (places < n)).astype(float)) for n in (1, 3, DEEP)]
        figures = dict[tuple[str, int], tuple[float, float]]()
        for kind in sorted(set(self.kinds)):
            for model in range(self.own.shape[1] - len(SHARED) + 1):
                asked = (self.kinds == kind) & (self.models == model) & (self.counts > 0)
                first, three = (float(100 * np.mean(hit[asked] > 0)) for hit in hits[:2])
                recall = float(100 * np.mean(hits[2][asked] / self.counts[asked]))
                figures[kind, model] = (recall, recall) if kind in RECALL else (first, three)
        return figures

    def cross_validate(self, start: Numbers, active: Marks) -> Numbers:
        """Return the sums of each group with weights that were fitted to other groups."""
        sums = np.zeros(len(self.of))
        folds = np.unique(self.groups, return_inverse=True)[1] % FOLDS
        for fold in range(FOLDS):
            weights = self.fit(start, folds != fold, active)
            held = (folds == fold)[self.of]
            sums[held] = self.add_up(weights)[held]
        return sums


@dataclass(frozen=True)
class Scale:
    """The log-odds of a fact: slope times its sum, the base of its model, and what ASKED adds."""

    slope: float
    bases: Numbers
    asked: Numbers

    def apply(self, problem: Problem, sums: Numbers) -> Numbers:
        """Return the log-odds."""
        bases = self.bases[problem.models[problem.of]]
        return self.slope * sums + bases + problem.asked @ self.asked


def fit_scale(problem: Problem, sums: Numbers) -> Scale:
    """Return the scale with which the table of scores and the share of empty answers hold."""
    top = (problem.rank(sums) < SHOWN) & np.isin(problem.kinds, SCALED)[problem.of]
    columns = np.column_stack([sums, problem.asked, np.ones(len(sums))])[top]
    weights: Numbers = np.zeros(len(ASKED) + 2)
    for _ in range(20):
        chance: Numbers = 1 / (1 + np.exp(-(columns @ weights)))
        slope: Numbers = columns.T @ (chance - problem.right[top]) + RIDGE * weights
        bend = columns.T @ ((chance * (1 - chance))[:, None] * columns) + RIDGE * np.eye(
            len(weights)
        )
        weights -= np.linalg.solve(bend, slope)
    per_sum = weights[1:-1] / weights[0]
    whole = sums + problem.asked @ per_sum
    order = np.argsort(-whole[top])
    precision = np.cumsum(problem.right[top][order]) / np.arange(1, len(order) + 1)
    high = whole[top][order][max(np.flatnonzero(precision >= RIGHT), default=0)]
    best, answered = (
        find_best(problem, whole),
        (problem.counts > 0) & np.isin(problem.kinds, SCALED),
    )
    factor = float((HIGH - LEAST) / (high - np.quantile(best[answered], EMPTY)))
    least = [
        np.quantile(best[answered & (problem.models == model)], EMPTY)
        for model in range(problem.models.max() + 1)
    ]
    return Scale(factor, LEAST - factor * np.array(least), factor * per_sum)


def find_best(problem: Problem, odds: Numbers) -> Numbers:
    """Return the highest log-odds of each question."""
    return np.maximum.reduceat(odds, problem.starts)


def list_weights(
    evidence: Evidence, weights: Numbers, scale: Scale
) -> list[tuple[str, str, float]]:
    """Return the rows of ranking_weight: model, feature, weight."""
    count = len(evidence.models)
    scaled = [*(scale.slope * weights[:-1]), weights[-1]]  # `better` multiplies scaled sums
    rows = [("*", "base", scale.bases[0]), ("*", "meaning", scaled[0] / evidence.factors[0])]
    rows += [("*", name, weight) for name, weight in zip(SHARED, scaled[count:], strict=True)]
    rows += [("*", name, weight) for name, weight in zip(ASKED, scale.asked, strict=True)]
    for place in range(1, count):
        rows.append((evidence.models[place], "base", scale.bases[place]))
        rows.append((evidence.models[place], "meaning", scaled[place]))
    return [(model, name, round(float(weight), 2)) for model, name, weight in rows]


def write_insert(rows: Sequence[tuple[str, str, float]]) -> str:
    """Return the statement that stores the weights."""
    values = ", ".join(f"('{model}', '{name}', {weight})" for model, name, weight in rows)
    return f"insert into ranking_weight (model, feature, weight) values\n    {values};"


def compare(
    evidence: Evidence, problem: Problem, before: Numbers, after: Numbers
) -> list[dict[str, Any]]:
    """Return the places before and after, a row for each kind and model."""
    old, new = problem.measure(before), problem.measure(after)
    return [
        {
            "kind": f"({kind})" if kind in RECALL else kind,
            "model": evidence.models[model],
            "first before": old[kind, model][0],
            "after": new[kind, model][0],
            "in 3 before": old[kind, model][1],
            "after ": new[kind, model][1],
        }
        for kind, model in new
    ]


def ablate(problem: Problem, weights: Numbers, sums: Numbers) -> list[dict[str, Any]]:
    """Return what each kind loses without a feature: the mean over models of first, or of R@10."""
    whole, count = problem.measure(sums), len(weights) - len(SHARED)
    rows = list[dict[str, Any]]()
    for place, name in enumerate(("meaning", *SHARED), count - 1):
        active = np.ones(len(weights), bool)
        active[place] = False
        active[:count] &= name != "meaning"
        without = problem.measure(problem.cross_validate(weights, active))
        row: dict[str, Any] = {"without": name}
        for kind in sorted(set(problem.kinds)):
            models = range(count)
            row[kind] = float(np.mean([without[kind, m][0] - whole[kind, m][0] for m in models]))
        rows.append(row)
    return rows


def draw_curve(
    evidence: Evidence, problem: Problem, arms: dict[str, Numbers]
) -> list[dict[str, Any]]:
    """Return the share of unknown questions that are empty, for shares of empty answerable ones."""
    rows = list[dict[str, Any]]()
    scaled = np.isin(problem.kinds, SCALED)
    for arm, odds in arms.items():
        for model, name in enumerate(evidence.models):
            best, here = find_best(problem, odds), scaled & (problem.models == model)
            known, unknown = (best[here & (problem.counts > 0)], best[here & (problem.counts == 0)])
            row: dict[str, Any] = {"weights": arm, "model": name}
            for share in CURVE:
                row[f"{share} %"] = float(100 * np.mean(unknown < np.percentile(known, share)))
            row["at 0.4"] = f"{np.sum(unknown < LEAST)} / {100 * np.mean(known < LEAST):.1f} %"
            rows.append(row)
    return rows


def count_bands(problem: Problem, arms: dict[str, Numbers]) -> list[dict[str, Any]]:
    """Return the share of right facts among those that have a score in each band."""
    rows = list[dict[str, Any]]()
    for arm, odds in arms.items():
        answerable = np.isin(problem.kinds, SCALED) & (problem.counts > 0)
        shown = (problem.rank(odds) < SHOWN) & answerable[problem.of]
        scores = 1 / (1 + np.exp(-odds))
        row: dict[str, Any] = {"weights": arm}
        for least, above in ((0.9, 1.1), (0.7, 0.9), (0.5, 0.7), (0.25, 0.5)):
            band = problem.right[shown & (scores >= least) & (scores < above)]
            row[f">= {least}"] = f"{len(band)}: {100 * band.mean() if len(band) else 0:.0f} %"
        rows.append(row)
    return rows


def report(evidence: Evidence) -> None:
    """Fit, and print the tables."""
    problem = Problem(evidence)
    before, old = read_weights(evidence)
    everything = np.ones(len(before), bool)
    start = np.append(before[:-1] / USUAL, before[-1])
    sums = problem.cross_validate(start, everything)
    print_table(compare(evidence, problem, problem.add_up(before), sums))
    weights = problem.fit(start, np.ones(len(problem.starts), bool), everything)
    print_table(ablate(problem, weights, sums))
    scale = fit_scale(problem, sums)
    arms = {
        "before": old.apply(problem, problem.add_up(before)),
        "after": scale.apply(problem, sums),
        "after, without unheard": replace(scale, asked=scale.asked * 0).apply(problem, sums),
    }
    print_table(draw_curve(evidence, problem, arms))
    print_table(count_bands(problem, arms))
    print(f"\n{write_insert(list_weights(evidence, weights, scale))}")


def read_weights(evidence: Evidence) -> tuple[Numbers, Scale]:
    """Return the weights of the evidence in the order of the columns, and their scale."""
    models = [dict(zip(WEIGHTS, weights, strict=True)) for weights in evidence.weights]
    meaning = [weights["meaning"] for weights in models]
    weights = np.array([*meaning, *(models[0][name] for name in SHARED)])
    asked = np.array([models[0][name] for name in ASKED])
    return weights, Scale(1, np.array([weights["base"] for weights in models]), asked)


async def read_evidence(folder: Path, options: argparse.Namespace) -> Evidence:
    """Return the evidence from the file, or from new memories."""
    sets = read_lives(options.more) + read_conversations(options.conversations)
    sets += read_histories()
    if options.features and options.features.is_file():
        return Evidence.load(options.features)
    async with run_embedded(folder) as cluster:
        evidence = await gather(cluster, sets, options.provider)
    if options.features:
        evidence.save(options.features)
    return evidence


def main() -> None:
    """Collect the evidence and fit."""
    parser = argparse.ArgumentParser(description="Fit the weights of the search.")
    parser.add_argument("--provider", nargs="+", default=PROVIDERS, help="the first one is row *")
    parser.add_argument("--more", type=Path, nargs="+", default=[], metavar="FILE")
    parser.add_argument("--conversations", type=Path, default=DATA, metavar="FILE")
    parser.add_argument("--features", type=Path, metavar="FILE", help="keep the evidence here")
    options = parser.parse_args()
    print(tell_machine())
    with open_folder("fit") as folder:
        evidence = anyio.run(read_evidence, folder, options)
    report(evidence)


if __name__ == "__main__":
    main()
