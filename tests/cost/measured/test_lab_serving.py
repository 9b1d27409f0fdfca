#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fits of serving runs: ten rows of one's own, made by the program with figures that a fit has to find; solves, pools
and the order of ways worked out by hand. Without numpy and scipy these tests are left out."""
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "cost/measured/lab")]
try:
    import numpy as np
    import scipy.optimize  # noqa: F401
except ImportError:
    print("skipped: numpy and scipy are not installed (apt install python3-scipy)")
    sys.exit(77)
import calibrate_serving  # noqa: E402
import serving  # noqa: E402
import serving_score  # noqa: E402
from serving import Cell, Figure, Row  # noqa: E402

PROGRAM = os.environ.get("SHARDOPT_PROGRAM", str(ROOT / "build/shardopt"))
CLIENTS, ALONE, SPLIT = [1, 2, 4, 8, 16, 24, 32, 64, 96, 128], [1] * 10, [1] * 5 + [8] * 5


class Runs:
    """Load tests of 8B on H100 as a file, which the program then measures under planted figures."""

    def __init__(self, clients, tensor, groups=None):
        asked = {"model": "8b", "chip": "h100", "engine": "vllm", "prompt": 1024, "answer": 256, "precision": "bf16"}
        self.requests = [{"request": {**asked, "chips": t, "concurrency": c}, "plan": {"workers": 1, "tensor": t}}
                         for c, t in zip(clients, tensor)]
        self.groups = groups

    def file(self, folder, measured):
        path = Path(folder) / "runs.jsonl"
        lines = [json.dumps({**({"id": f"r{i}", "group": self.groups[i]} if self.groups else {"id": f"r{i}"}), **run,
                             "measured": own}) for i, (run, own) in enumerate(zip(self.requests, measured))]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return str(path)

    def planted(self, folder, figures):
        """What was measured if figures were these."""
        unknown = [{"tpot_seconds": 1, "ttft_seconds": 1}] * len(self.requests)
        program = serving.Program(PROGRAM, self.file(folder, unknown), values=True)
        values = np.array([cell.begun for cell in program.cells])
        for f, figure in enumerate(program.figures):
            values[:, f] = figures.get(figure.key, values[:, f])
        found = program.predictions(values)
        program.close()
        return [{"tpot_seconds": t, "ttft_seconds": f} for t, f in zip(found["tpot"], found["ttft"])]

    def fitted(self, folder, measured, folds=0):
        program = serving.Program(PROGRAM, self.file(folder, measured), values=True)
        out = serving.calibrate(program, folds)
        self.keys = [figure.key for figure in program.figures]
        out.score = {state: serving_score.score(out.model.rows, getattr(out, state)) for state in ("before", "fitted")}
        return out, program


class Planted(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def fit(self, runs, measured, folds=0):
        c, program = runs.fitted(self.folder.name, measured, folds)
        self.addCleanup(program.close)
        return c, program

    def test_planted_figures_come_back(self):
        """Half of the rows send no message: they hold what kernels take where it was, and the others give the
        message's, less what the prior holds back."""
        runs = Runs([1, 2, 4, 8, 16] * 2, SPLIT)
        measured = runs.planted(self.folder.name, {"message_extra": 1.1, "first_token_seconds": 0.07})
        c, _ = self.fit(runs, measured)
        [cell] = c.model.cells
        value = dict(zip(runs.keys, cell.value))
        self.assertEqual(cell.rows, 10)
        self.assertAlmostEqual(value["message_extra"], 1.1, delta=0.2 * 1.1)
        self.assertAlmostEqual(value["first_token_seconds"], 0.07, delta=0.1 * 0.07)
        self.assertLess(c.score["fitted"].all["tpot"].median, 0.01)
        self.assertGreater(c.score["before"].all["tpot"].p90, 0.05)
        self.assertEqual(c.likely_factor, 1)  # no row was left out
        # All rows left out at once are predicted as before, and those that send messages took longer than that.
        c, _ = self.fit(runs, measured, folds=1)
        self.assertGreater(c.likely_factor, 1.05)

    def test_what_rows_do_not_determine_is_left(self):
        """On one chip several figures of a step stand for each other; what rows determine is the time of a token, at
        loads that they do not have too. Messages and experts are left."""
        runs, others = Runs(CLIENTS, ALONE), Runs([3, 6, 12, 20, 28, 40, 48, 72, 80, 112], ALONE)
        c, _ = self.fit(runs, runs.planted(self.folder.name, {"kernel_extra": 0.5}))
        [cell] = c.model.cells
        self.assertGreater(c.score["before"].all["tpot"].median, 0.1)
        moved = dict(zip(runs.keys, cell.moved))
        self.assertTrue(moved["kernel_extra"])
        self.assertFalse(moved["message_extra"] or moved["expert_extra"])
        found = others.planted(self.folder.name, dict(zip(runs.keys, cell.value)))
        truth = others.planted(self.folder.name, {"kernel_extra": 0.5})
        for now, was in zip(found, truth):
            self.assertAlmostEqual(now["tpot_seconds"] / was["tpot_seconds"], 1, delta=0.12)

    def test_figures_are_held_as_closely_as_predicts_other_groups(self):
        """Groups that tell the same are predicted best by figures hardly held; groups of which each second took half as
        long again, and the others two thirds, by figures that stay where they were."""
        runs = Runs(CLIENTS, ALONE, [name for name in "abcde" for _ in range(2)])
        c, _ = self.fit(runs, runs.planted(self.folder.name, {"kernel_extra": 0.5}))
        self.assertLess(c.strength, 1)
        odd = [{"tpot_seconds": own["tpot_seconds"] * (1.5 if i // 2 % 2 else 1 / 1.5)}
               for i, own in enumerate(runs.planted(self.folder.name, {}))]
        c, _ = self.fit(runs, odd)
        self.assertGreater(c.strength, 4)

    def test_the_profile_is_read_again_and_reports_have_their_keys(self):
        runs = Runs(CLIENTS, ALONE)
        c, program = self.fit(runs, runs.planted(self.folder.name, {"kernel_extra": 0.5}), folds=2)
        document = serving.profile(c, "runs.jsonl")
        own = next(fit for fit in document["fits"] if fit["engine"] == "vllm" and "h100" in fit["chips"])
        self.assertIn("10 rows of 1 groups of runs.jsonl", own["figures"]["kernel_extra"]["source"])
        names = [(fit["engine"], tuple(fit["chips"])) for fit in document["fits"]]
        for name in (("none", tuple(own["chips"])), ("vllm", ("@gpu",)), ("none", ("@gpu",))):
            self.assertEqual(names.count(name), 1, name)
        self.assertIn(("sglang", tuple(own["chips"])), names)  # of the profile that was begun with
        score = serving_score.score(c.model.rows, c.worth)
        report = json.loads(calibrate_serving.as_json(c, score))
        self.assertEqual(len(report["runs"]), 10)
        self.assertEqual(set(report["summary"]["by"]), set(serving_score.BY))
        self.assertIn("unseen", calibrate_serving.as_text(c, "runs.jsonl", score, True))


FIGURES = [Figure("a", 0.5, -1, 1, False), Figure("b", 0.1, 0, 1, True)]


class Closed:
    """Rows whose time of a token is base (1 + a), and whose first token takes b seconds."""
    engines, figures = ["one", "two"], FIGURES

    def __init__(self, cells, rows):
        self.cells, self.rows, self.profile = cells, rows, {"figures": {}}

    def predictions(self, values, rows=None):
        out = {key: np.full(len(self.rows), np.nan) for key in ("tpot", "ttft", "rate", "resident")}
        for i in range(len(self.rows)) if rows is None else rows:
            out["tpot"][i] = 0.01 * (1 + values[self.rows[i].cell][0])
            out["ttft"][i] = values[self.rows[i].cell][1]
        return out


def cells(*names):
    """(engine, chips)"""
    return [Cell(engine, np.array([0, 0.1]), [chip]) for engine, chip in names]


class Solves(unittest.TestCase):
    def test_many_groups_say_what_they_measured(self):
        rows = [Row(str(i), str(i), cell=0, tpot=0.012, ttft=0.2) for i in range(200)]
        c = serving.calibrate(Closed(cells(("one", "x")), rows), 0)
        np.testing.assert_allclose(c.model.cells[0].value, [0.2, 0.2], rtol=0.02)

    def test_an_engine_lends_to_its_chip_without_rows(self):
        """Cells of one engine share what they say, less what each level holds back; another engine takes less of it."""
        rows = [Row(str(i), str(i), cell=0, tpot=0.012, ttft=0.1) for i in range(50)]
        c = serving.calibrate(Closed(cells(("one", "x"), ("one", "y"), ("two", "y")), rows), 0)
        own, kin, other = (cell.value[0] for cell in c.model.cells)
        self.assertTrue(own > kin > other >= 0, (own, kin, other))
        self.assertAlmostEqual(own, 0.2, delta=0.01)
        self.assertEqual([cell.rows for cell in c.model.cells], [50, 0, 0])

    def test_bounds(self):
        rows = [Row(str(i), str(i), cell=0, tpot=0.05, ttft=0.1) for i in range(50)]
        c = serving.calibrate(Closed(cells(("one", "x")), rows), 0)
        self.assertAlmostEqual(c.model.cells[0].value[0], 1, places=6)

    def test_what_does_not_count(self):
        """Everything queued at once, two pools, and rows without a cell."""
        rows = [Row("a", "a", cell=0, tpot=1), Row("b", "b", cell=0, tpot=1, at_once=True),
                Row("c", "c", cell=0, tpot=1, mode="disagg"), Row("d", "d", tpot=1)]
        model = serving.Model(Closed(cells(("one", "x")), rows), 2)
        self.assertEqual(model.counts().tolist(), [True, False, False, False])
        self.assertEqual(model.counts(0).tolist(), [False] * 4)  # groups are dealt in their order


class Orders(unittest.TestCase):
    def test_tau_choices_and_limits(self):
        """Three ways of one load: the second was predicted best and measured best; the third's place is wrong."""
        rows = [Row(str(i), "g", layout=str(i), chips=8, output=2, concurrency=4, tpot=tpot, rate=rate)
                for i, (tpot, rate) in enumerate([(0.012, 100), (0.009, 200), (0.02, 50)])]
        predicted = {"tpot": np.array([0.011, 0.009, 0.010]), "ttft": np.full(3, np.nan),
                     "rate": np.array([100, 210, 150.0]), "resident": np.full(3, 4.0)}
        order = serving_score.order(rows, predicted)
        self.assertEqual(order.pairs, 3)
        self.assertAlmostEqual(order.tau, 1 / 3)  # 0-1 and 1-2 agree, 0-2 does not
        self.assertEqual((order.best, order.best_within), (1, 1))
        self.assertEqual((order.limits, order.limits_kept), (5, 5))  # the second is the choice under each

    def test_groups_weigh_one(self):
        rows = [Row("a", "x", tpot=1.0), Row("b", "x", tpot=1.0), Row("c", "y", tpot=1.0)]
        predicted = {key: np.array([1.1, 1.2, 1.5]) if key == "tpot" else np.full(3, np.nan)
                     for key in ("tpot", "ttft", "rate")}
        found = serving_score.score(rows, predicted).all["tpot"]
        self.assertEqual((found.rows, found.groups), (3, 2))
        self.assertAlmostEqual(found.median, 0.2)
        self.assertAlmostEqual(found.p90, 0.5)


if __name__ == "__main__":
    unittest.main()
