# SPDX-License-Identifier: GPL-3.0-or-later
"""The Python package beside the program's own words: python -m unittest, of the sources (PYTHONPATH=python and
SHARDOPT_PROGRAM) or of an installed wheel. Expected values are what the program writes as CSV, as a script and on stderr,
read here by other means."""

import concurrent.futures
import csv
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import warnings

import shardopt

SMALL = {"model": "8b", "chip": "v5e", "slice": "4x4", "batch": "256Ki"}
WORDS = ["--model", "8b", "--chip", "v5e", "--slice", "4x4", "--batch", "256Ki"]


def program(*words):
    return subprocess.run([os.fspath(shardopt.program()), *words], capture_output=True, text=True, timeout=120)


class Plans(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.report = shardopt.plan(**SMALL)

    def test_rows_are_those_of_the_csv(self):
        rows = list(csv.DictReader(io.StringIO(program("plan", *WORDS, "--format", "csv").stdout)))
        self.assertEqual(len(rows), len(self.report))
        self.assertGreater(len(rows), 0)
        for ours, theirs in zip(self.report.rows(), rows):
            for name in ("rank", "data", "fsdp", "sequence", "tensor", "expert", "pipeline", "microbatches", "step_seconds",
                         "mfu", "likely_low_seconds", "bubble_seconds", "training_seconds", "chip_hours", "cost_usd"):
                self.assertEqual(float(theirs[name]), float(ours[name]), name)
            self.assertEqual(float(theirs["memory_bytes"]), ours["hbm_bytes"])
            self.assertEqual(theirs["launchable_by"], ours["launchable_by"])
            degrees = 1
            for role in ("data", "fsdp", "sequence", "tensor", "expert", "pipeline"):
                degrees *= ours[role]
            self.assertEqual(degrees, 16)

    def test_what_is_emitted_is_what_the_program_emits(self):
        best = self.report.best
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "r.json")
            self.report.save(path)
            theirs = program("emit", best.launcher, "--from", path, "--rank", "1")
            self.assertEqual(theirs.returncode, 0, theirs.stderr)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.assertEqual(best.emit(), theirs.stdout)
                self.assertEqual(self.report.emit(best.launcher), theirs.stdout)

    def test_forms(self):
        text = program("plan", *WORDS).stdout
        self.assertEqual(str(self.report), text)
        page = self.report._repr_html_()
        self.assertTrue(page.startswith('<iframe sandbox="allow-scripts" '))
        self.assertEqual(page.count("<"), 2, "what is inside the frame is escaped")
        self.assertIn("id=&quot;document&quot;&gt;{&quot;format_version&quot;", page)
        self.assertIn("proven", repr(self.report))

    def test_explained(self):
        explained = self.report.explain(rank=2)
        self.assertEqual(explained.plan.notation, self.report.plans[1].notation)
        self.assertAlmostEqual(explained.plan.seconds, self.report.plans[1].seconds, delta=1e-9)
        self.assertIn("s per step", explained.text())
        given = shardopt.explain(**SMALL, plan="fsdp=16", why_not=True)
        self.assertIsNotNone(given.why_not)

    def test_priced(self):
        """Each plan of a list by itself; what is none says why; a line break makes no second plan."""
        named = ["fsdp=16", {"tensor": 4, "fsdp": 4}, "fsdp=3", "tensor=2\nfsdp=8", "fsdp=16 microbatches=1", {"fsdp": 16, "regather": True}]
        priced = shardopt.price(**SMALL, plans=iter(named), max_idle=0)
        self.assertEqual(len(priced), len(named))
        self.assertIn("does not divide", priced[2]["error"])
        self.assertIn("lacks", priced[4]["error"])
        for one, words in zip(priced, ("fsdp=16", "tensor=4 fsdp=4", None, "tensor=2 fsdp=8", None, "fsdp=16 regather=true")):
            if words:
                alone = json.loads(program("explain", *WORDS, "--plan", words, "--format", "json").stdout)["plans"][0]
                self.assertEqual(one["step"]["seconds"], alone["step"]["seconds"])
                self.assertEqual(one["memory"], {name: alone["memory"][name] for name in one["memory"]})
        self.assertEqual(shardopt.price(**SMALL, plans=[]), [])
        with self.assertRaises(shardopt.InputError):
            shardopt.price(model="nosuch", plans=["fsdp=16"])

    def test_frame(self):
        try:
            import pandas
        except ImportError:
            with self.assertRaises(ImportError) as raised:
                self.report.to_frame()
            self.assertIn("pip install pandas", str(raised.exception))
            return
        frame = self.report.to_frame()
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertEqual(list(frame["rank"]), [plan.rank for plan in self.report])
        self.assertEqual(frame["step_seconds"].min(), self.report.best.seconds)


class Errors(unittest.TestCase):
    def test_the_line_of_the_program(self):
        rows = [
            ({"model": "no-such-model"}, ["--model", "no-such-model"]),
            ({"model": "8b", "chip": "h1000"}, ["--model", "8b", "--chip", "h1000"]),
            ({"model": "8b", "no_such": 1}, ["--model", "8b", "--no-such", "1"]),
            ({"model": "8b", "nodes": 64}, ["--model", "8b", "--nodes", "64"]),
        ]
        for options, words in rows:
            with self.subTest(words=words), self.assertRaises(shardopt.InputError) as raised:
                shardopt.plan(**options)
            said = program("plan", *words)
            self.assertEqual(said.returncode, 2)
            self.assertEqual("shardopt: " + raised.exception.line.split("; without")[0],
                             said.stderr.rstrip("\n").split("; without")[0])  # which has its words
            self.assertEqual(raised.exception.code, 2)
            self.assertIsInstance(raised.exception, ValueError)
            self.assertEqual(f"{raised.exception.where}: {raised.exception.text}", raised.exception.line)

    def test_nothing_fits(self):
        report = shardopt.plan(model="405b", chip="h100", nodes=1)
        self.assertEqual((len(report), report.rows(), report.code), (0, [], 3))
        with self.assertRaises(shardopt.NoPlanError):
            report.best
        self.assertIn("no plan fits", repr(report))

    def test_a_limit_that_was_asked_for(self):
        report = shardopt.plan(model="405b", pods=8, time_limit=0.05)
        self.assertEqual(report.code, 4)
        self.assertFalse(report.proven)

    def test_warnings(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            shardopt.plan(**{**SMALL, "batch": "256k"})
        self.assertEqual([w.category for w in caught], 2 * [shardopt.ShardoptWarning])
        self.assertIn("no whole number of sequences", str(caught[0].message))
        self.assertIn("262,144 is 256Ki", str(caught[1].message))
        self.assertTrue(caught[0].filename.endswith("test_shardopt.py"), "it points at the caller")

    def test_a_missing_program(self):
        before = os.environ.get("SHARDOPT_PROGRAM")
        os.environ["SHARDOPT_PROGRAM"] = "/nowhere/shardopt"
        try:
            with self.assertRaises(shardopt.ShardoptError):
                shardopt.models()
        finally:
            if before is None:
                del os.environ["SHARDOPT_PROGRAM"]
            else:
                os.environ["SHARDOPT_PROGRAM"] = before


class Options(unittest.TestCase):
    def test_words(self):
        from shardopt._program import words_of

        rows = [
            ({"chip": "h100"}, ["--chip", "h100"]),
            ({"max_idle": 0.1}, ["--max-idle", "0.1"]),
            ({"for_": "megatron"}, ["--for", "megatron"]),
            ({"variants": True, "quiet": False, "seq": None}, ["--variants"]),
            ({"model": ["8b", "70b"]}, ["--model", "8b,70b"]),
            ({"chips": [64, 128]}, ["--chips", "64,128"]),
            ({"require": {"tensor": 4, "pipeline": 1}}, ["--require", "tensor=4 pipeline=1"]),
            ({"batch": 4 * 1024 * 1024}, ["--batch", "4194304"]),
            ({"model": pathlib.Path("a b/config.json")}, ["--model", "a b/config.json"]),
        ]
        for options, words in rows:
            self.assertEqual(words_of(options), words)

    def test_a_model_as_its_config(self):
        config = {
            "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 4096, "intermediate_size": 14336,
            "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256,
            "max_position_embeddings": 131072, "tie_word_embeddings": False, "torch_dtype": "bfloat16",
        }  # fmt: skip
        report = shardopt.plan(**{**SMALL, "model": config}, tokens="15T")
        self.assertEqual(report.json["model"]["parameters"], 8030261248)  # of Llama 3.1 8B, as Hugging Face counts it


class Others(unittest.TestCase):
    def test_sweep(self):
        sweep = shardopt.sweep(model=["8b", "70b"], chip="v5e", chips=[16, 64], batch="256Ki")
        self.assertEqual([(row["model"], row["chips"]) for row in sweep.rows()],
                         [("8b", "16"), ("8b", "64"), ("70b", "16"), ("70b", "64")])
        self.assertEqual(sweep.rows()[0]["step_seconds"], shardopt.plan(**SMALL).best.seconds)
        self.assertIn('"lead":', sweep.html())

    def test_inference(self):
        serving = shardopt.inference(model="8b", chip="h100", nodes=1)
        rates = [point["tokens_per_second_per_user"] for point in serving.front]
        self.assertEqual(rates, sorted(rates, reverse=True))
        self.assertEqual(len(serving.rows()), len(rates))
        self.assertIn(serving.best["notation"], program("inference", "--model", "8b", "--chip", "h100", "--nodes", "1").stdout)

    def test_check(self):
        self.assertTrue(shardopt.check(**SMALL, plan=shardopt.plan(**SMALL).best.notation).passed)
        self.assertFalse(shardopt.check(**SMALL, plan="tensor=16").passed)

    def test_lists(self):
        self.assertIn("llama3.1-70b", [model["name"] for model in shardopt.models()])
        self.assertIn("h100", [chip["name"] for chip in shardopt.chips()])

    def test_threads(self):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            reports = list(pool.map(lambda _: shardopt.plan(**SMALL).json, range(4)))
        self.assertTrue(all(report == reports[0] for report in reports))

    def test_an_interrupt_ends_the_search(self):
        code = "import shardopt; print('begun', flush=True); shardopt.plan(model='deepseek-v3', chip='h100', nodes=256)"
        heeds = lambda: signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background do not
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   preexec_fn=heeds)
        self.assertEqual(process.stdout.readline(), "begun\n")
        time.sleep(0.3)
        start = time.monotonic()
        process.send_signal(signal.SIGINT)  # to Python alone, as a notebook does it
        _, said = process.communicate(timeout=60)
        self.assertIn("KeyboardInterrupt", said)
        self.assertLess(time.monotonic() - start, 20)

    def test_the_command(self):
        ended = subprocess.run([sys.executable, "-m", "shardopt", "--model", "no-such-model"], capture_output=True, text=True)
        self.assertEqual((ended.returncode, ended.stdout), (2, ""))


if __name__ == "__main__":
    unittest.main()
