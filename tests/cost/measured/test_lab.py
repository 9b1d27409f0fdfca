#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fits of runs whose step has a closed form (fake_runs.py), so that their result is known; quantiles, ranges and the
order of plans worked out by hand. Without numpy and scipy these tests are left out."""
import dataclasses
import json
import math
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "cost/measured/lab"), str(Path(__file__).resolve().parent)]
try:
    import numpy as np
    import scipy.optimize  # noqa: F401
except ImportError:
    print("skipped: numpy and scipy are not installed (apt install python3-scipy)")
    sys.exit(77)
import calibrate  # noqa: E402
import fit  # noqa: E402
import folds  # noqa: E402
import report  # noqa: E402
import score  # noqa: E402
from fake_runs import FakeProgram, many_runs, reset  # noqa: E402
from predict import Run  # noqa: E402

OLD = ("profiles", "old", "matrix_efficiency")
TRUTH = {OLD: 0.62, ("profiles", "old", "fp8_efficiency"): 0.66, ("profiles", "new", "matrix_efficiency"): 0.83,
         ("profiles", "new", "fp8_efficiency"): 0.55, ("stacks", "plain", "data_exposed"): 0.45,
         ("stacks", "tuned", "data_exposed"): 0.06, ("stacks", "plain", "step_seconds"): 0.05}


def fitted(program, start="priors", only=None):
    """(model, weights, solution, the set that is written)"""
    model = fit.Model(program, program.set, start, only)
    weights = model.weights()
    solution = fit.fit_whole(model, weights)
    return model, weights, solution, fit.written(model, solution, weights)


def matmuls_alone(count, factor, sigma=0.1):
    """Runs that the efficiency of "old" alone moves."""
    program = FakeProgram()
    for key in ("data_exposed", "step_seconds"):
        program.put("stacks", "plain", key, value=1e-9)
        del program.set.document["stacks"]["plain"][key]["prior"]
    program.put(*OLD, sigma=sigma)
    for source, runs in count.items():
        for _ in range(runs):
            program.add(source, "7b", "old", "plain", 1000, 0)
    program.measure(factor=1)
    program.runs = [dataclasses.replace(run, measured_seconds=run.measured_seconds * factor[run.source])
                    for run in program.runs]
    return program


class Fits(unittest.TestCase):
    def test_recovers_known_figures(self):
        for noise in (0, 0.02):
            program = FakeProgram()
            many_runs(program)
            for figure, truth in TRUTH.items():
                program.put(*figure, value=truth)
            program.measure(noise)
            reset(program.set)
            model, _, solution, written = fitted(program)
            self.assertTrue(solution.converged)
            for figure, truth in TRUTH.items():
                own = written.at(figure)
                self.assertTrue(own["determined"], figure)
                self.assertLess(abs(math.log(own["value"] / truth)), own["deviation"], figure)
            # no run uses HBM, and none is on the lone chip, which follows old's figure
            hbm, lone = written.at(("profiles", "base", "hbm_efficiency")), written.at(("profiles", "lone", OLD[2]))
            self.assertEqual((hbm["value"], hbm["determined"], hbm["runs"], hbm["deviation"]), (0.85, False, 0, 0.1))
            self.assertAlmostEqual(lone["value"], 1.1 * written.at(OLD)["value"], 5)
            self.assertEqual((lone["determined"], lone["deviation"]), (False, 0.05))
            self.assertEqual(written.at(("stacks", "plain", "compute_factor"))["value"], 1)
            self.assertEqual(len({p.figure for p in model.parameters}), len(model.parameters))

    def test_counts_the_runs_that_a_figure_moves(self):
        """All 24 runs of a chip and precision spend 63% or more of the step in its matmuls."""
        program = FakeProgram()
        many_runs(program)
        program.add("d", "7b", "old", "plain", 1e-6, 1)  # all communication: matmuls move it by 1e-6
        program.measure()
        written = fitted(program)[3]
        self.assertEqual(written.at(OLD)["runs"], 24)
        self.assertEqual(written.at(("profiles", "new", "fp8_efficiency"))["runs"], 24)

    def test_families_weigh_and_not_runs(self):
        """Four runs of one source, model, generation and precision weigh 1/2 each; a flagged one, left out, weighs 0
        and is not of its group."""
        program = FakeProgram()
        for i in range(4):
            program.add("a", "7b", "old", ("plain", "tuned")[i % 2], 1 + i, 1)
        for i in range(2):
            program.add("a", "7b", "old", "plain", 1 + i, 1, True)
        program.add("b", "7b", "old", "plain", 1, 1)
        program.add("a", "7b", "old", "plain", 1, 1, True, flagged=True)
        program.measure()
        model, third, half = fit.Model(program, program.set), 3**-0.5, 2**-0.5
        np.testing.assert_allclose(model.weights(), [0.5] * 4 + [third] * 2 + [1, third], rtol=1e-15)
        np.testing.assert_allclose(model.weights(True), [0.5] * 4 + [half] * 2 + [1, 0], rtol=1e-15)

    def test_one_figure_in_closed_form(self):
        """A hundred times one measurement: ln of the efficiency is the mean of prior and measurement weighed by their
        precisions, 1/0.1^2 and sqrt(100)/0.04^2; small against 0.04."""
        written = fitted(matmuls_alone({"a": 100}, {"a": math.exp(0.004)}))[3]
        runs, prior = 10 / 0.04**2, 1 / 0.1**2
        self.assertAlmostEqual(math.log(written.at(OLD)["value"] / 0.7), -0.004 * runs / (runs + prior), delta=2e-5)
        self.assertAlmostEqual(written.at(OLD)["deviation"], (runs + prior)**-0.5, delta=1e-5)

    def test_the_robust_loss(self):
        """Nine runs 2% slow against one of another source 30% slow, prior included: the slope of the loss, written
        out, is zero at the answer, and the odd run pulls by less than its distance."""
        program = matmuls_alone({"a": 9, "b": 1}, {"a": 1.02, "b": 1.3})
        solution = fitted(program)[2]
        u = math.log(solution.x[0] / 0.7)

        def pull(weight, off):  # half the slope of w 2 (sqrt(1 + z) - 1) by u; predicted falls as u rises
            r = -u - off
            return -weight * r / (0.04**2 * math.sqrt(1 + (r / 0.04)**2))

        self.assertAlmostEqual((9 / 3) * pull(1, math.log(1.02)) + pull(1, math.log(1.3)) + u / 0.1**2, 0, delta=0.5)
        self.assertTrue(-0.1 < u < -0.02, u)

    def test_a_prior_that_dominates(self):
        written = fitted(matmuls_alone({"a": 4}, {"a": 1.3}, sigma=1e-3))[3]
        self.assertAlmostEqual(written.at(OLD)["value"], 0.7, delta=1e-3)
        self.assertEqual((written.at(OLD)["determined"], written.at(OLD)["deviation"]), (False, 1e-3))

    def test_verdicts(self):
        """Shares of the prior's deviation that are left: below 0.7 runs determine a figure, from 0.95 on it is held."""
        parameter = fit.Parameter(OLD, 0.7, 0.3, 0.98, 0.7, 0.1)
        for deviation, verdict in ((0.069, "determined"), (0.071, "leans"), (0.094, "leans"), (0.0951, "kept")):
            self.assertEqual(fit.verdict(parameter, deviation), verdict)
        self.assertEqual(fit.verdict(dataclasses.replace(parameter, held=True), 0.01), "kept")

    def test_a_prior_that_follows(self):
        """Without runs of the lone chip's own its figure is 1.1 of old's; with them it says something of old's too."""
        program = FakeProgram()
        program.put("profiles", "lone", OLD[2], sigma=1e-4)
        for i in range(8):
            program.add("a", "7b", "lone", "plain", 10 + i, 0)
        program.measure(factor=1.05)
        model, _, solution, written = fitted(program)
        self.assertAlmostEqual(written.at(("profiles", "lone", OLD[2]))["value"], 1.1 * written.at(OLD)["value"], 4)
        self.assertLess(written.at(OLD)["value"], 0.69)
        self.assertIn(OLD, [p.figure for p in model.parameters])

    def test_a_few_runs_move_only_what_they_determine(self):
        """A user's ten runs, 25% slower than the set says, which an earlier fit has left off its priors."""
        program = FakeProgram()
        for entry in program.set.document["profiles"].values():
            for key in set(entry) & {"matrix_efficiency", "fp8_efficiency", "hbm_efficiency", "network_efficiency"}:
                entry[key].update(value=entry[key]["value"] * 0.97, deviation=0.02, runs=1, determined=True)
        for i in range(10):
            program.add("mine", "78"[i % 2], "old", "plain", 10 + i, 0.1)
        program.measure(0.005, 1.25)
        written = fitted(program, "values")[3]
        self.assertTrue(0.79 < written.at(OLD)["value"] / program.set.at(OLD)["value"] < 0.85)
        self.assertTrue(written.at(OLD)["determined"])
        for figure in program.set.figures():
            if figure != OLD:
                self.assertEqual(written.at(figure)["value"], program.set.at(figure)["value"], figure)

    def test_a_few_runs_speak_of_their_own_chip(self):
        """On a chip that takes its network from its parent they move the chip's figure, not everybody's."""
        program = FakeProgram()
        for i in range(10):
            program.add("mine", "78"[i % 2], "old", "tuned", 0.01, 100 + i)
        program.measure(0.005, 1.1)
        del program.set.document["stacks"]["tuned"]["data_exposed"]["prior"]  # so that only the network explains them
        before = len(program.set.document["profiles"]["old"])
        program.set.own_figures({("profiles", "old"), ("stacks", "tuned")})
        self.assertEqual(len(program.set.document["profiles"]["old"]), before + 2)  # HBM and network
        written = fitted(program, "values")[3]
        network = ("profiles", "tuned of a file", "network_efficiency")  # such a figure of a file is not dropped
        written.document["profiles"][network[1]] = {"source": "-", network[2]: {
            **written.at(("profiles", "old", network[2])), "determined": False}}
        written.drop_own()
        self.assertIn(network, list(written.figures()))
        self.assertEqual(len(written.document["profiles"]["old"]), before + 1)
        own = written.at(("profiles", "old", "network_efficiency"))
        self.assertTrue(own["determined"] and 0.72 < own["value"] < 0.76, own)
        self.assertEqual(own["of"], "base")
        self.assertEqual(written.at(("profiles", "base", "network_efficiency"))["value"], 0.8)

    def test_of_one_software_alone(self):
        program = FakeProgram()
        many_runs(program)
        program.measure(0.01, 1.1)
        model, _, _, written = fitted(program, only="plain")
        self.assertEqual({p.figure[1] for p in model.parameters}, {"plain", "tuned"})
        self.assertEqual(written.document["profiles"], program.set.document["profiles"])

    def test_columns_that_are_differenced_together(self):
        """Colours hold disjoint columns, and give the derivatives of one column after another."""
        program = FakeProgram()
        many_runs(program)
        program.measure(0.1)
        model = fit.Model(program, program.set)
        problem = fit.Problem(model, model.weights())
        self.assertLess(len(problem.groups), len(model.parameters))
        for together in problem.groups:
            self.assertLessEqual(model.columns[:, together].sum(axis=1).max(), 1)
        x = model.start_x()
        r = problem.residuals(x)
        found = problem.jacobian(x, r)
        for j in range(len(x)):
            moved = x.copy()
            moved[j] *= math.exp(fit.STEP)
            np.testing.assert_allclose(found[:, j], (problem.residuals(moved) - r) / fit.STEP, atol=1e-9)

    def test_hostile_runs(self):
        for factors in ([1], [1, 2], [1, 1e6]):
            program = FakeProgram()
            for _ in factors:
                program.add("a", "7b", "old", "plain", 1, 1)
            program.measure()
            program.runs = [dataclasses.replace(run, measured_seconds=run.measured_seconds * factor)
                            for run, factor in zip(program.runs, factors)]
            model, weights, solution, written = fitted(program)
            self.assertTrue(0.3 < written.at(OLD)["value"] < 0.98)
            found = folds.cross_validate(model, weights, solution, "groups", 10)
            self.assertEqual(found.folds, len(factors))


class Folds(unittest.TestCase):
    def test_a_source_left_out_leaves_priors(self):
        """What a left-out source alone has determined is back at its prior when it is predicted: 1.1 of old's."""
        program = FakeProgram()
        for i in range(30):
            program.add("ab"[i % 2], "7b", "old", "plain", 10 + i, 0)
        for i in range(6):
            program.add("c", "70b", "lone", "plain", 10 + i, 0)
        program.put(*OLD, value=0.6)
        program.put("profiles", "lone", OLD[2], value=0.5)
        program.measure()
        reset(program.set)
        model, weights, solution, _ = fitted(program)
        found = folds.cross_validate(model, weights, solution, "sources", 0)
        self.assertEqual(found.folds, 3)
        ratios = found.seconds / model.measured
        np.testing.assert_allclose(ratios[:30], 1, atol=0.03)  # the lone chip pulls old's down a little
        np.testing.assert_allclose(ratios[30:], 0.5 / 0.66, atol=0.01)
        covered, alone = folds.coverage(model)
        self.assertEqual((covered[0], alone[0], covered[30], alone[30]), (True, False, False, True))

    def test_one_group_is_left_out_by_runs(self):
        program = FakeProgram()
        for i in range(10):
            program.add("a", "7b", "old", "plain", 10 + i, 0)
        program.measure(factor=1.2)
        model, weights, solution, _ = fitted(program)
        found = folds.cross_validate(model, weights, solution, "groups", 5)
        self.assertTrue(found.by_run)
        self.assertEqual(list(found.fold), [i % 5 for i in range(10)])
        ratios = found.seconds / model.measured
        self.assertTrue((ratios > 0.94).all() and (ratios < 1.01).all(), ratios)

    def test_groups_are_dealt_whole(self):
        """Groups of 8, 4, 4, 2, 2, 1 and 1 runs in three folds are dealt in this order: 8 + 2 + 1, 4 + 2, 4 + 1."""
        program = FakeProgram()
        for source, size in zip("abcdefg", (1, 4, 2, 8, 2, 4, 1)):
            for i in range(size):
                program.add(source, "7b", "old", "plain", 1 + i, 1, i % 2 == 1)
        program.measure(0.01)
        found = folds.deal(fit.Model(program, program.set), "groups", 3)
        self.assertEqual([int((found.fold == k).sum()) for k in range(3)], [11, 6, 5])
        for source in "abcdefg":
            self.assertEqual(len({found.fold[i] for i, run in enumerate(program.runs) if run.source == source}), 1)

    def test_quantiles_by_hand(self):
        """Twenty values of one weight, 0.01 apart around 0: the first and the last have 5% each."""
        ratios = np.array([0.01 * (i - 9.5) for i in range(20)])[[i * 7 % 20 for i in range(20)]]
        weights = np.full(20, 0.3)
        found = folds.range_of(ratios, weights)
        self.assertAlmostEqual(math.log(found.low), -0.095, 12)
        self.assertAlmostEqual(math.log(found.high), 0.095, 12)
        self.assertAlmostEqual(found.runs, 20, 9)
        weights[0] = 1e9
        found = folds.range_of(ratios, weights)
        self.assertAlmostEqual(math.log(found.low), ratios[0], 6)
        self.assertAlmostEqual(found.runs, 1, 6)
        self.assertEqual(folds.range_of(ratios, np.zeros(20)), folds.Range(1, 1, 0))

    def test_few_runs_lean_on_all(self):
        """20 own runs make half of the answer, none make nothing of it."""
        half = folds.towards(folds.Range(0.81, 1.21, 20), folds.Range(0.64, 1.44, 300))
        none = folds.towards(folds.Range(), folds.Range(0.64, 1.44, 300))
        for found, low, high in ((half, 0.72, 1.32), (none, 0.64, 1.44)):
            self.assertAlmostEqual(found.low, low, 12)
            self.assertAlmostEqual(found.high, high, 12)

    def test_ranges_written_into_the_set(self):
        """Sixty runs scatter by 10%; a chip known from one source alone, 30% off its prior, makes the range of chips
        without runs at least that wide. Going on from values only chips with runs change theirs."""
        program = FakeProgram()
        models = ("7b", "13b", "30b", "70b", "100b", "175b")
        for i in range(60):
            program.add("ba"[i % 2], models[i % 6], "old", "plain", 10 + i, 1)
        for i in range(24):
            program.add("c", models[i % 6], "lone", "plain", 10 + i, 0)
        program.put("profiles", "lone", OLD[2], value=0.77 / 1.3)
        program.measure(0.1)
        reset(program.set)

        def ranged(start):
            model, weights, solution, written = fitted(program, start)
            both = [folds.cross_validate(model, weights, solution, kind, 5) for kind in ("groups", "sources")]
            folds.write_ranges(model, weights, *both, written)
            return written

        written = ranged("priors")
        low, high = (written.at(("profiles", "old", f"likely_{end}"))["value"] for end in ("low", "high"))
        self.assertTrue(0.8 < low < 0.94 and 1.06 < high < 1.25, (low, high))
        unknown = written.at(("profiles", "new", "likely_high"))
        self.assertGreaterEqual(unknown["value"], max(1.3, high))
        self.assertIn("no run", unknown["source"])
        program.set = written
        program.put("profiles", "new", "likely_high", value=1.77)
        again = ranged("values")
        self.assertEqual(again.at(("profiles", "new", "likely_high"))["value"], 1.77)
        self.assertIn("what stood here", again.at(("profiles", "old", "likely_high"))["source"])


class Scores(unittest.TestCase):
    def test_errors_by_hand(self):
        """Of -0.1, 0.2, -0.3, 0.4, 0.5: the 90th percentile lies at rank 3.6."""
        found = score.errors(np.array([0.4, -0.1, 0.2, -0.3, 0.5]))
        self.assertEqual((found.runs, found.median, found.worst, found.bias), (5, 0.3, 0.5, 0.2))
        self.assertAlmostEqual(found.p90, 0.46, 12)

    def test_order_by_hand(self):
        """Three plans measured at 1, 1.04 and 2 s: the first two are within noise; the third is predicted between
        them, so that of its two pairs one is right. Repeats are one plan, of their mean."""
        def run(plan, measured, **more):
            return Run("", tokens=1, group=0, plan=plan, measured_seconds=measured, **more)

        runs = [run(0, 0.9), run(0, 1.1), run(1, 1.04), run(2, 2.0)]
        found = score.order(runs, np.array([1.0, 1.0, 3.0, 2.0]))
        self.assertEqual((found.groups, found.pairs, found.tau, found.large), (1, 2, 0, 0))
        plans = [run(i, 1.0 + i, too_large=i == 0) for i in range(10)]
        found = score.order(plans, np.arange(1.0, 11.0))
        # the first does not fit: 2 s for 1 s
        self.assertEqual((found.large, found.cell_tau, found.cell_median), (1, 1, 1))


class Whole(unittest.TestCase):
    """Which runs each line and group of a calibration counts: sixty of three sources on two chips, six of them
    flagged, and five of a fourth source on a chip that nobody else has."""

    def setUp(self):
        self.program = FakeProgram()
        for i in range(60):
            flops = 0.03 * 10**(i * 7 % 24 / 10)
            self.program.add("abc"[i % 3], ("7b", "70b", "405b")[i // 8 % 3], ("old", "new")[i // 2 % 2],
                             ("plain", "tuned")[i // 4 % 2], flops, flops * (2 if i % 5 == 0 else 0.5), i % 2 == 1,
                             flagged=i % 10 == 3)
        for i in range(5):
            self.program.add("d", "7b", "lone", "plain", 1 + i, 1)
        self.program.measure(0.05)

    def calibration(self, **options):
        return calibrate.calibrate(fit.Model(self.program, self.program.set), [], **options)

    def counts(self, c):
        return {line: errors.runs for line, errors in c.lines.items()}

    def test_all_runs(self):
        c = self.calibration(count=5)
        self.assertEqual(self.counts(c), {"before": 65, "fitted": 65, "fitted_without_flagged": 59, "by_groups": 65,
                                          "by_sources": 65, "by_sources_chip_known": 60, "by_sources_chip_unknown": 5})
        self.assertEqual([g.name for g in c.by_source], ["a", "b", "c", "d"])
        self.assertEqual([g.name for g in c.by_chip], ["lone", "new", "old"])
        errors = c.seconds["by_groups"] / c.model.measured - 1
        own = np.array([run.generation == "old" for run in c.model.runs])
        self.assertEqual(c.by_chip[2].errors["by_groups"].median, np.median(np.abs(errors[own])))
        ranged = c.set.document["profiles"]["old"]
        within = [ranged["likely_low"]["value"] <= 1 / (1 + e) <= ranged["likely_high"]["value"] for e in errors[own]]
        self.assertAlmostEqual(c.by_chip[2].inside, np.mean(within), 12)

    def test_flagged_runs_left_out(self):
        c = self.calibration(count=0, exclude_flagged=True)
        self.assertEqual(self.counts(c), {"before": 59, "fitted": 59})
        with_refit = self.calibration(count=0)
        np.testing.assert_allclose(np.nan_to_num(with_refit.seconds["fitted_without_flagged"]),
                                   np.nan_to_num(c.seconds["fitted"]), rtol=1e-5)

    def test_reports(self):
        c = self.calibration(count=5)
        facts = calibrate.Facts("runs", "0" * 64, "default", "", False)
        out = json.loads(report.as_json(c, facts))
        self.assertEqual(len(out["runs"]), 65)
        self.assertEqual(list(out["summary"]), [*c.lines, "by"])
        lines = report.as_text(c, facts, False).split("Furthest off\n")[1].split("\n\n")[0].splitlines()[1:]
        errors = np.abs(c.seconds["by_groups"] / c.model.measured - 1)
        worst = np.argsort(-errors, kind="stable")[:8]
        self.assertEqual([line.split()[0] for line in lines], [f"run{i}" for i in worst])


if __name__ == "__main__":
    unittest.main()
