"""benchmarks.fit finds the weights of the search, and never reads the test half."""

import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import everyday, fit
from benchmarks.support.evidence import COLUMNS, Evidence, read_lives

WEIGHTS = {"meaning": 8.0, "words": 5.0, "about": 3.0, "beside": 1.0, "period": 2.0}


def make_evidence(questions: int) -> Evidence:
    """Draw evidence in which WEIGHTS decide, by chance in proportion, which fact is right."""
    chance = np.random.default_rng(5)
    evidence = Evidence(["first", "other"], [[1.0] * 8, [1.0] * 8], [1.0, 1.0])
    for number in range(questions):
        values = chance.random((30, len(COLUMNS)))
        values[:, COLUMNS.index("about")] -= 1
        values[:, COLUMNS.index("unheard")] = 0
        values[:, COLUMNS.index("ordinal")] = 9 * np.arange(30)
        sums = sum(weight * values[:, COLUMNS.index(name)] for name, weight in WEIGHTS.items())
        sums -= (number % 2) * 4 * values[:, COLUMNS.index("meaning")]
        drawn = np.argmax(sums + chance.gumbel(size=30))
        values[:, COLUMNS.index("right")] = np.arange(30) == drawn
        evidence.rows.append(values)
        group = str(number % 3)
        evidence.questions.append(("lives", group, number % 2, 1))
    return evidence


def test_the_weights_that_decided_are_found() -> None:
    problem = fit.Problem(make_evidence(3_000))
    start, everything = np.ones(7), np.ones(7, bool)
    found = problem.fit(start, np.ones(3_000, bool), everything, ridge=0.00001)

    assert found[:6] == pytest.approx([8, 4, 5, 3, 1, 2], abs=0.6)


def test_the_evidence_in_a_file_gives_the_same_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evidence = make_evidence(60)
    unknown = make_evidence(9)
    for rows, (kind, group, model, _) in zip(unknown.rows, unknown.questions, strict=True):
        rows[:, COLUMNS.index("right")] = 0
        evidence.rows.append(rows)
        evidence.questions.append((kind, group, model, 0))
    evidence.save(tmp_path / "evidence.npz")
    reports = list[str]()
    for known in (evidence, Evidence.load(tmp_path / "evidence.npz")):
        fit.report(known)
        reports.append(capsys.readouterr().out)

    assert reports[0] == reports[1]
    assert "insert into ranking_weight" in reports[0]
    assert "('other', 'meaning', " in reports[0]


def test_no_weight_is_fitted_to_the_test_half(monkeypatch: pytest.MonkeyPatch) -> None:
    lives = [path for path in everyday.TEST.glob("*.txt") if everyday.UNKNOWN not in path.stem]
    for path in lives:
        monkeypatch.setattr(sys, "argv", ["fit", "--more", str(path)])
        with pytest.raises(SystemExit, match="test half"):
            fit.main()
    asked = {question.text for known in read_lives([]) for question in known.questions}
    held = {q.text for path in lives for q in everyday.read_life(f"test/{path.stem}").questions}

    assert len(lives) == 10
    assert asked & held == set()
