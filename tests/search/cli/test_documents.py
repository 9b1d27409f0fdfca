# SPDX-License-Identifier: GPL-3.0-or-later
"""What the documents of several commands say of the same thing: a sweep says what `plan` says of each point, both sides of a
diff are those of the reports, a file of a launcher is the plan that it was written for; and gates on what they say."""
import json, os, re, unittest
from html.parser import HTMLParser

from program import Case

SOURCES = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
DATA = os.path.join(SOURCES, "cost/measured/data")
IMPORT = os.path.join(SOURCES, "tests/data/import")
POINT = "--model 8b --chip v5e --slice 4x4 --seq 2048 --top 5 --batch "


def at(document, path):
    for key in path.split("."):
        document = document[key]
    return document


class Tags(HTMLParser):
    """The tags of a page, which have to close in order."""

    VOID = {"meta", "br", "hr", "input", "img", "link", "path", "rect", "line", "circle", "polyline", "use", "col"}

    def __init__(self, page):
        super().__init__()
        self.open, self.seen = [], []
        self.feed(page)
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag, tag


def number(text):
    """11.50 s, 512 us, $1.57 M, 22,790 as a number."""
    sizes = {"us": 1e-6, "ms": 1e-3, "minutes": 60, "hours": 3600, "days": 86400, "k": 1e3, "M": 1e6, "B": 1e9}
    digits, _, unit = text.lstrip("$").partition(" ")
    return float(digits.replace(",", "")) * sizes.get(unit, 1)


class WhatIf(Case):
    # Of each kind of answer: where its best is; the figures of a line in their order, and whether a share stands behind.
    KINDS = {"plan": ("plans", [(" chips", "chips_used", False), (" per step", "step.seconds", True),
                                (" tokens/s per chip", "tokens_per_second_per_chip", True), (" in all", "training.cost_usd", True)]),
             "inference": ("best_point", [(" chips", "chips_used", False), (" tokens/s", "tokens_per_second", True),
                                          (" per chip", "tokens_per_second_per_chip", True), (" TPOT", "tpot_seconds", True),
                                          (" per million output tokens", "cost_usd_per_million_output_tokens", True)]),
             "rl": ("steps", [(" chips train", "train_chips", False), (" generate", "rollout_chips", False), (" per step", "seconds", True),
                              (" a step", "usd", True)])}

    def figures(self, line, kind):
        best = self.report(line)[self.KINDS[kind][0]]
        for _, path, _ in self.KINDS[kind][1]:
            value = best[0] if isinstance(best, list) else best
            for key in path.split("."):
                value = value[key]
            yield value

    def test_a_line_is_what_the_changed_question_says(self):
        """Each figure in its unit, and the share that it moves, of both questions typed out; several changes one by one."""
        for words, changes, changed in (
                ("plan --model 8b --chip h100 --nodes 1", "chip=h200", ["plan --model 8b --chip h200 --nodes 1"]),
                ("plan --model 8b --chip h100 --chips 8", "32xh100; --nodes 2 batch=1Mi",
                 ["plan --model 8b --chip h100 --chips 32", "plan --model 8b --chip h100 --nodes 2 --batch 1Mi"]),
                ("finetune --model 8b --chip h100 --gpus 2 --lora", "seq=1024", ["finetune --model 8b --chip h100 --gpus 2 --lora --seq 1024"]),
                ("inference --model 8b --chip h100 --chips 2", "tpot=20ms", ["inference --model 8b --chip h100 --chips 2 --tpot 20ms"]),
                ("rl --model 8b --chip h100 --nodes 1", "nodes=2;nodes=3", ["rl --model 8b --chip h100 --nodes 2", "rl --model 8b --chip h100 --nodes 3"])):
            code, out, err = self.run_line(f"{words} --what-if '{changes}'")
            self.assertEqual(code, 0, err)
            lines = [" ".join(line.split()) for line in out[out.index("\nWhat if "):].replace("\n  ", " ").strip().split("\n")]
            self.assertEqual(len(lines), len(changed), out)
            kind = words.split()[0].replace("finetune", "plan")
            before = list(self.figures(words, kind))
            for line, change, other in zip(lines, changes.split(";"), changed):
                head = f"What if {change.strip()}: "
                self.assertTrue(line.startswith(head) and line.endswith("."), line)
                items = re.split(r", (?=\$?\d)", line[len(head):-1])
                for item, (of, _, moves), was, now in zip(items, self.KINDS[kind][1], before, self.figures(other, kind), strict=True):
                    found = re.fullmatch(rf"(\$?[\d.,]+(?: [a-zA-Z]+)?){of}(?: \(([+-][\d.]+)%\))?", item)
                    self.assertTrue(found, f"{item}: {line}")
                    self.assertAlmostEqual(number(found[1]) / now, 1, delta=6e-3, msg=line)
                    self.assertEqual(found[2] is not None, moves, line)
                    if moves:
                        self.assertAlmostEqual(float(found[2]), 100 * (now / was - 1), delta=0.051, msg=line)


class Diff(Case):
    def made(self, name, words):
        code, _, err = self.run_line(f"{words} --format json -o {name}")
        self.assertEqual(code, 0, err)
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return json.load(file)

    def test_parts_add_up_on_both_sides(self):
        """And both sides are those of the reports, the other way round too."""
        reports = {"a": self.made("a", POINT + "64Ki"), "b": self.made("b", POINT + "32Ki")}
        diff, back = self.report("diff a b"), self.report("diff b a")
        for side, report in reports.items():
            plan = report["plans"][0]
            self.assertAlmostEqual(sum(part[side] for part in diff["terms_seconds"].values()) / plan["step"]["seconds"], 1, 9)
            self.assertAlmostEqual(sum(part[side] for part in diff["memory_bytes"].values()), plan["memory"]["total_bytes"], delta=1)
            self.assertEqual(diff["figures"]["mfu"][side], plan["mfu"])
            self.assertEqual(diff["figures"]["step_seconds"][side], plan["step"]["seconds"])
            listed = [part for part in diff["plans"] if isinstance(part.get("rank_" + side), int)]
            for part in listed:
                own = report["plans"][part["rank_" + side] - 1]
                self.assertEqual(part["step_seconds_" + side], own["step"]["seconds"])
            self.assertEqual(len(listed), len(report["plans"]))
        self.assertEqual(len(diff["request"]), 1, "the batch alone")
        self.assertEqual(back["figures"]["mfu"]["a"], diff["figures"]["mfu"]["b"])

    def test_a_page_of_hostile_names(self):
        """It is well-formed, loads nothing, runs its own script alone, and has the difference of the steps as the reports have
        them."""
        first, second = self.made("a", POINT + "64Ki"), self.made("b", POINT + "32Ki")
        text = json.dumps(second).replace('"matmul":', '"<img src=x>":').replace('"8b"', '"8b<script>"')
        with open(os.path.join(self.folder, "c"), "w", encoding="utf-8") as file:
            file.write(text)
        code, page, err = self.run_line("diff a c --format html")
        self.assertEqual(code, 0, err)
        tags = Tags(page).seen
        for tag, count in (("h1", 1), ("script", 2), ("link", 0), ("img", 0)):
            self.assertEqual(sum(seen == tag for seen, _ in tags), count, tag)
        self.assertFalse([a for _, a in tags if "src" in a])
        self.assertNotIn("url(http", page)
        self.assertIn("\\u003cscript>", page)
        shown = json.loads(page[page.index('id="document">') + 14:page.rindex("</script><script>" if "</script><script>" in page else "</script>\n<script>")])
        for side, report in (("a", first), ("b", second)):
            self.assertEqual(shown["figures"]["step_seconds"][side], report["plans"][0]["step"]["seconds"])


class Sweep(Case):
    def test_each_row_is_what_plan_says(self):
        """Rows in the order of the options of the help, the first the slowest, whatever the order of the command line. Of
        four points that are planned two have no plan that fits; four are no slices."""
        rows = self.report("sweep --seq 2048 --batch 32Ki,64Ki --slice 4x4,3x3 --chip v5e --model 8b,70b")
        self.assertEqual(len(rows), 8)
        for i, row in enumerate(rows):
            varies = {"model": ("8b", "70b")[i // 4], "slice": ("4x4", "3x3")[i // 2 % 2], "batch": ("32Ki", "64Ki")[i % 2]}
            self.assertEqual((row["point"], row["varies"]), (i, varies))
            if varies["slice"] == "3x3":
                self.assertEqual(row["state"], "error")
                self.assertIn("--slice: 3x3 is not a v5e slice", row["message"])
                continue
            self.assertEqual(row["state"], "ok" if varies["model"] == "8b" else "no_plan")
            words = " ".join(f"--{name} {value}" for name, value in varies.items())
            own = self.report(f"plan --chip v5e --seq 2048 --top 1 {words}", (0, 3))
            for key in ("request", "model", "mesh", "search", "program", "nearest", "plans"):
                self.assertEqual(row["report"].get(key), own.get(key), (words, key))
            self.assertEqual(bool(row["best"]), bool(own["plans"]))
            if own["plans"]:
                plan, best = own["plans"][0], row["best"]
                self.assertEqual(best["step_seconds"], plan["step"]["seconds"])
                self.assertAlmostEqual(best["tokens_per_second"] * plan["step"]["seconds"] / plan["batch"]["tokens"], 1, 9)
                self.assertEqual(best["hbm_bytes"], plan["memory"]["total_bytes"])
                self.assertEqual(best["chip_hours"], plan["training"]["chip_hours"])

    def test_lists(self):
        for words, option, values in (
                ("--chip v5e --chips 1..4", "chips", ["1", "2", "3", "4"]),
                ("--chip v5e --chips 16,2..3,8", "chips", ["16", "2", "3", "8"]),
                ("--chip v5e --slice 2x2 --schedules '1f1b,gpipe;all'", "schedules", ["1f1b,gpipe", "all"]),
                ("--chip v5e --slice 2x2 --require 'tensor=4;tensor=2 fsdp=2'", "require", ["tensor=4", "tensor=2 fsdp=2"])):
            with self.subTest(words):
                rows = self.report(f"sweep --model 8b --batch 64Ki --seq 2048 {words}", (0, 3))
                self.assertEqual([row["varies"][option] for row in rows], values)

    def test_resume_after_any_cut(self):
        """What is in the file already is not planned again, however the process ended: its rows are marked, and stay. Cuts
        are within, before and behind each end of a line, and into the next line."""
        words = "--model 8b --chip v5e --slice 4x4,3x3,5x5,7x7 --batch 64Ki --seq 2048"
        whole, path = self.run_line("sweep " + words)[1], os.path.join(self.folder, "cut")
        self.assertEqual(self.run_line(f"sweep {words} --resume all")[1], whole)
        with open(os.path.join(self.folder, "all"), "rb") as file:
            marked = file.read().replace(b"3x3 is not", b"3x3 is surely not")
        ends = [i for i, byte in enumerate(marked) if byte == ord("\n")]
        self.assertEqual(len(ends), 5, "a header and four rows")
        cuts = {0} | {(a + b) // 2 for a, b in zip([0] + ends, ends)} | {e + k for e in ends for k in (0, 1, 2)}
        for cut in sorted(c for c in cuts if c <= len(marked)):
            with open(path, "wb") as file:
                file.write(marked[:cut])
            wanted = whole.replace("3x3 is not", "3x3 is surely not") if cut > ends[2] else whole  # the marked row is there
            self.assertEqual(self.run_line(f"sweep {words} --resume cut")[1], wanted, cut)
            self.assertEqual(self.run_line("merge cut")[1], wanted, cut)
            with open(path, "rb") as file:
                self.assertEqual(file.read().count(b"\n"), 5)


class FromConfig(Case):
    def test_a_measured_run(self):
        """The recipe of Llama 3.1 405B on two slices of v6e is a measured run too, which validate reads from a table in
        words of its own: the same plan, the same prediction; and the measured step, 54.8 s, is in the likely range."""
        step = self.first(f"explain --chip v6e --slice 16x16 --slices 2 --from-config {IMPORT}/maxtext_405b.yml")["step"]
        with open(os.path.join(DATA, "train.jsonl"), encoding="utf-8") as table:
            rows = [line for line in table if '"id":"tpurec-2xv6e256-llama31-405b"' in line]
        with open(os.path.join(self.folder, "one.jsonl"), "w", encoding="utf-8") as one:
            one.writelines(rows)
        predicted = self.report("validate one.jsonl")["runs"][0]["predicted_seconds"]
        self.assertAlmostEqual(step["seconds"] / predicted, 1, 9)
        self.assertTrue(step["likely_low_seconds"] < 54.803 < step["likely_high_seconds"])

    def test_files(self):
        """Degrees worked out from each file by hand. And what a plan lacks: the best is no slower, terms make up the
        difference. 405B and 16 microbatches do not fit on 128 GPUs."""
        for name, options, degrees, sequences in (
                ("maxtext_8b.sh", "--chip v6e --slice 16x16", {"fsdp": 256}, 512),
                ("torchtitan_70b.toml", "--chip h100 --nodes 32", {"fsdp": 32, "tensor": 8}, 512),
                ("torchtitan_405b_pp.toml", "--chip h100 --nodes 16", {"fsdp": 2, "tensor": 8, "pipeline": 8}, 32),
                ("megatron_70b.sh", "--chip h100", {"data": 16, "tensor": 8, "pipeline": 4}, 256),
                ("deepspeed_zero3.json", "--chip h100 --nodes 16 --model llama2-13b --seq 4096", {"fsdp": 128}, 512)):
            with self.subTest(name):
                report = self.report(f"explain -q {options} --from-config {IMPORT}/{name}", (0, 3))
                plan, compared = report["plans"][0], report["why_not"]
                self.assertEqual({role: ways for role, ways in plan["axes"].items() if ways > 1}, degrees)
                self.assertEqual(plan["batch"]["sequences"], sequences)
                self.assertEqual(compared["lacking_bytes"] > 0, name == "torchtitan_405b_pp.toml")
                if not compared["is_best"]:
                    here, best = plan["step"]["seconds"], compared["best"]["seconds"]
                    self.assertAlmostEqual(compared["behind"], here / best - 1, 9)
                    lost = sum(term["seconds"] - term["best_seconds"] for term in compared["terms"])
                    self.assertAlmostEqual(lost / here, (here - best) / here, 9)

    def test_and_back_from_its_report(self):
        code, _, err = self.run_line(f"explain -q --chip v6e --slice 16x16 --format json -o run.json --from-config {IMPORT}/maxtext_8b.sh")
        self.assertEqual(code, 0, err)
        with open(os.path.join(self.folder, "run.json"), encoding="utf-8") as file:
            seconds = json.load(file)["plans"][0]["step"]["seconds"]
        self.assertEqual(self.first("explain --from run.json")["step"]["seconds"], seconds)


class ServingGate(Case):
    def test_accuracy_gets_no_worse_unnoticed(self):
        """What docs/accuracy.md says of serving."""
        summary = self.report(f"validate {DATA}/serving.jsonl")["summary"]
        for group, figure, most in (
                ("kind.dense", "tpot.median", 0.07), ("kind.dense", "tpot.p90", 0.25), ("kind.dense", "ttft.median", 0.16),
                ("kind.mixture", "tpot.median", 0.12), ("kind.mixture", "ttft.median", 0.26),
                # It was 0.3, and the orders below 0.954 and 0.964, while one floor of the experts' kernels was fitted to
                # these rows: with floors of public tables, which are not, unseen mixtures are 15.4% off, 18.0% before.
                ("kind.mixture", "tpot.p90", 0.305),
                ("kind.mixture, all at once", "output_tokens_per_second.median", 0.49),
                ("kind.two pools, drafts?", "output_tokens_per_second.median", 0.125),
                ("kind.two pools, drafts?", "tpot.median", 0.11), ("mode.open-loop", "tpot.median", 0.1),
                ("kind.dense, all at once", "output_tokens_per_second.median", 0.12),
                # 19 rows of 5 groups. It was 0.12 while each engine and chip had figures of its own, which followed one or
                # two rows: pooled they do not, for which rows that no fit has seen are nearer.
                ("mode.closed-loop", "output_tokens_per_second.median", 0.145)):
            self.assertLessEqual(at(summary["by"], f"{group}.{figure}"), most, f"{group}: {figure}")
        self.assertGreaterEqual(summary["runs"], 2545)
        for figure, least in (("tau", 0.953), ("tau_chip_seconds", 0.962), ("best_within_5_percent", 0.97)):
            self.assertGreaterEqual(summary["order"][figure], least, figure)

    def test_experts_over_nodes_as_published(self):
        """SGLang's page of DeepSeek-V3 on 96 H100: tokens a second and chip of each pool, within a quarter."""
        for ask, key, published in (
                ("--nodes 4 --mode prefill --prompt 4096 --answer 1 --require 'attention_data=32 expert=32'",
                 "tokens_per_second_per_chip", 50302 / 8),
                ("--nodes 9 --mode decode --prompt 2000 --answer 100 --tpot 150ms "
                 "--require 'attention_data=72 expert=72 batch=18432'", "tokens_per_second_per_chip", 22282 / 8)):
            found = self.report(f"inference --model deepseek-v3 --chip h100 --engine sglang {ask}")["best_point"][key]
            self.assertLessEqual(abs(found / published - 1), 0.25, f"{ask}: {found}, published {published}")


if __name__ == "__main__":
    unittest.main()
