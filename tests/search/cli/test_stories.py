# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person would ask, through the program, and what the answer must say to be physically right: figures of "How to
Scale Your Model", part 6 (70B on v5p), and rules of thumb that hold for any sane planner."""
import json, os, unittest

from program import Case, lies_on


class Stories(Case):
    def test_seventy_billion_on_v5p(self):
        """The book: 4Mi tokens on a pod are 468 a chip, below 850: pure FSDP with sequence is communication-bound;
        2048 x 4 nearly balances."""
        machine = "--model 70b --slice 16x16x32 --batch 4Mi --seq 4096 --profile ideal"
        pure = self.first(f"explain {machine} --plan 'fsdp=1024 sequence=8'")
        self.assertEqual(pure["bound_by"], "ici")
        # 850 / 512 tokens a chip: communication is 1.66 times compute in the book's layer; the real layer, attention
        # included, is near.
        self.assertTrue(1.5 < pure["step"]["seconds"] / pure["step"]["compute_seconds"] < 1.8)
        mixed = self.first(f"explain {machine} --plan 'fsdp=1024 sequence=2 tensor=4'")
        self.assertEqual(mixed["bound_by"], "compute")
        self.assertLess(mixed["step"]["lower_seconds"], 1.001 * mixed["step"]["compute_seconds"] + 1e-3)
        report = self.report(machine)
        best = report["plans"][0]
        self.assertTrue(2 <= best["axes"]["tensor"] <= 8)
        self.assertLessEqual(best["step"]["seconds"], mixed["step"]["seconds"])
        self.assertEqual(report["search"]["proof"], "optimal")

    def test_eight_pods_do_not_divide(self):
        """71,680 = 2^11·5·7, and nothing in 405B takes the 5: no plan uses every chip unpadded; all factorizations are
        counted, and those that no launcher takes are cut first."""
        report = self.report("--model 405b --pods 8 --max-idle 0 --padding none --top 1 --schedules 1f1b --batch 4Mi", (3,))
        search = report["search"]
        self.assertEqual(report["plans"], [])
        self.assertEqual(search["factorizations"], 13781250)
        self.assertEqual(search["plans_covered"], search["plans_pruned"]["indivisible"] + search["plans_pruned"]["require"])

    def test_tensor_inside_nvlink(self):
        """Tensor parallelism, where there is some, stays where its links are fast."""
        for words in ("--model 70b --chip h100 --nodes 64 --batch 4Mi --seq 8192",
                      "--model 405b --chip h100 --nodes 128 --remat full", "--model gpt3-175b --chip a100 --nodes 128"):
            with self.subTest(words):
                plan = self.first(words + " --max-idle 0 --top 1 --require 'tensor>=2'")
                self.assertGreaterEqual(plan["axes"]["tensor"], 2)
                self.assertTrue(lies_on(plan, "tensor", "nvlink"))
                self.assertFalse(lies_on(plan, "tensor", "network"), plan["notation"])

    def test_deepseek_experts_across_nodes(self):
        """README's gallery, DeepSeek-V3 on 256 nodes: its published grid, 128 x 16 with experts folded 64 ways, is taken
        as it is. A chip sends 7/8 of its 4,096 tokens' 8 copies of 7,168 bf16 out of the node, twice forward and twice
        backward: no less than 1.64 GB for each of the fullest stage's layers with experts, at 50 GB/s; there are 58 such
        layers in 16 stages, so some stage has 4. Inside the node the network is free of them. A dispatcher that sends a
        token once to each node reaches 8 x (1 - (7/8)^8) = 5.25 of the 8 nodes for its 8 experts."""
        line = ("explain --model deepseek-v3 --chip h100 --nodes 256 --batch 60Mi --seq 4096 --plan "
                "'data=128 pipeline=16 zero=1 schedule=1f1b microbatches=120 folded={}' --stack {}")
        wide = self.first(line.format(64, "megatron-core"))
        fused = self.first(line.format(64, "megatron-bridge-25-fused"))
        narrow = self.first(line.format(8, "megatron-core"))
        self.assertEqual(wide["axes"]["expert"], 1)
        self.assertEqual((wide["expert_grid"]["expert"], wide["expert_grid"]["expert_data"]), (64, 2))
        sent = 120 * 4.0 * 4 * 4096 * 8 * 7168 * 2 * 7 / 8
        seconds, once, inside = (p["step"]["communication_seconds"]["expert"] for p in (wide, fused, narrow))
        self.assertTrue(0.9 * sent / 50e9 <= seconds < 1.5 * sent / 50e9, seconds)
        self.assertTrue(0.6 < once / seconds < 0.7, f"5.25 of 8: {once / seconds}")
        self.assertLess(inside, 0.2 * seconds)
        self.assertLess(narrow["step"]["seconds"], wide["step"]["seconds"])

    def test_gpt_oss_on_racks_of_72(self):
        """Racks of 72 have a 9 in them, which heads, widths, experts and powers of two have not: with a batch that has it
        too, replicas take it, every chip is used, and the exchange of tokens stays inside the rack."""
        plan = self.first("--model gpt-oss-120b --chip gb200 --nodes 2 --batch 2304Ki --seq 8192 --max-idle 0 --top 1 "
                          "--require 'pipeline=1 expert>=2'")
        self.assertEqual(plan["chips_used"], 144)
        self.assertEqual(plan["axes"]["data"] * plan["axes"]["fsdp"] % 9, 0)
        self.assertTrue(lies_on(plan, "expert", "nvlink"))
        self.assertFalse(lies_on(plan, "expert", "network"))

    def test_gemma_on_two_rings(self):
        """A dense model with one sequence a chip needs little in addition to FSDP on both rings of a v6e slice. Over the
        whole slice XLA all_reduces gradients, so that a part of the slice, with tensor on the rest, is a little faster."""
        plan = self.first("--model gemma3-27b --chip v6e --slice 16x16 --batch 1Mi --seq 4096 --max-idle 0")
        self.assertGreaterEqual(plan["axes"]["fsdp"], 128)
        self.assertIn("maxtext", plan["launchable_by"])

    def test_kimi_moves_experts_or_tokens(self):
        """FSDP moves a trillion parameters whatever the batch is, experts move tokens: with few tokens a device experts
        win, with four times as many FSDP does. (Exit code 3: receive buffers for the worst routing do not fit.)"""
        few, many = ([self.first(f"explain --model kimi-k2 --chip tpu7x --slice 8x16x16 --batch {batch} --seq 4096 --plan "
                                 f"'{way} microbatches=1'", (0, 3))["step"]["seconds"]
                      for way in ("fsdp=512 expert=8", "fsdp=2048 expert=2")] for batch in ("32Mi", "128Mi"))
        self.assertLess(few[0], few[1])
        self.assertGreater(many[0], many[1])

    def test_a_hundred_and_five_layers(self):
        """105 layers divide by 3, 5 and 7 alone, 512 GPUs by 2 alone: stages of different length are no reason for one
        stage."""
        plan = self.first("--model mt-nlg-530b --chip a100 --nodes 64 --sequences 128 --max-idle 0 --top 1 --remat full "
                          "--require 'pipeline>=2 tensor=8 schedule=1f1b'")
        self.assertGreaterEqual(plan["axes"]["pipeline"], 2)
        self.assertEqual(plan["chips_used"], 512)
        self.assertIn("megatron", plan["launchable_by"])

    def test_mixtral_on_v5e(self):
        """Eight experts on chips of 16 GB: one for each of eight chips, which then needs room for each token of its group
        once, and fsdp for the rest. (Exit code 4: one layout of many that offload in parts is open, 0.1% below.)"""
        plan = self.first("--model mixtral-8x22b --chip v5e --slice 16x16 --batch 2Mi --seq 4096", (0, 4))
        self.assertEqual((plan["axes"]["expert"], plan["axes"]["fsdp"]), (8, 32))
        self.assertLessEqual(plan["memory"]["total_bytes"], plan["memory"]["limit_bytes"])

    def test_memory_has_a_price(self):
        """What does not fit plainly fits with some layers recomputed, at a price; less HBM is never faster; far too little
        is exit 3."""
        plans = [self.first(f"--model 8b --slice 4x4x4 --batch 1Mi --top 1 --hbm-reserve {reserve}%")
                 for reserve in range(0, 81, 20)]
        for more, less in zip(plans, plans[1:]):
            self.assertGreaterEqual(less["step"]["seconds"], more["step"]["seconds"] * (1 - 1e-9))
        self.assertTrue(any(plan["knobs"]["remat"] != "none" for plan in plans))
        report = self.report("--model 405b --chip v5e --slice 4x4", (3,))
        self.assertEqual(report["plans"], [])
        self.assertTrue(report["nearest"])

    def test_optimizers_and_dtypes(self):
        """Muon keeps one moment of a matrix in place of two; what its iterations compute is 5 n / B of the training of a
        square matrix, a few thousandths here. A report says what was requested, and `explain --from` reads it back."""
        machine = "--model 8b --chip v5p --slice 4x4x8 --batch 4Mi --require 'fsdp=128' --profile ideal --top 1"
        report = os.path.join(self.folder, "report.json")
        for words, dtypes, wanted in (  # bytes of a parameter, kept by the optimizer; tables are 13% of the model
                ("", "default", 12),
                ("--optimizer muon", "default", 8 + 4 * 0.1308),
                ("--optimizer Adafactor", "default", 4),
                ("--optimizer sgd --state-dtypes master=none", "master=none", 0),
                ("--state-dtypes 'moments=bf16,gradients=fp32'", "gradients=fp32 m=bf16 v=bf16", 8),
                ("--state-dtypes 'parameters=fp8 m=bf16'", "parameters=fp8 m=bf16", 10)):
            with self.subTest(words):
                code, _, err = self.run_line(f"{machine} {words} --format json -o {report}")
                self.assertEqual(code, 0, err)
                with open(report, encoding="utf-8") as file:
                    made = json.load(file)
                kept = made["plans"][0]["memory"]["optimizer_bytes"]
                self.assertAlmostEqual(kept / (made["model"]["parameters"] / 128), wanted, delta=0.02)
                self.assertEqual(made["request"]["state_dtypes"], dtypes)
                self.assertEqual(self.first(f"explain --from {report}")["memory"]["optimizer_bytes"], kept)

    def test_a_report_is_explained_as_it_stands(self):
        """Its knobs and its placement, also when another placement would be faster."""
        spans = (("x fsdp 4 1", "y fsdp 4 1", "z tensor 4 1", "z fsdp 2 4"),
                 ("x tensor 2 1", "x fsdp 2 2", "y fsdp 4 1", "z tensor 2 1", "z fsdp 4 2"))
        report = self.report("--model 8b --slice 4x4x8 --batch 1Mi --top 1 --for any "
                             "--require 'tensor=4 fsdp=32 microbatches=4'")
        plan = report["plans"][0]
        self.assertEqual(plan["knobs"]["microbatches"], 4)
        for words in spans:
            span = [(axis, role, int(factor), int(stride)) for axis, role, factor, stride in map(str.split, words)]
            plan["placement"] = [dict(zip(("axis", "role", "factor", "stride"), one)) for one in span]
            path = os.path.join(self.folder, "report.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(report, file)
            explained = self.first(f"explain --from {path}")
            self.assertEqual(explained["placement"], plan["placement"])
            self.assertGreaterEqual(explained["step"]["seconds"], plan["step"]["seconds"])
            self.assertEqual(explained["knobs"]["microbatches"], 4)

    def test_plans_are_where_maxtext_puts_them(self):
        """What a launcher cannot place is not said to be launchable by it, and costs more where it puts it itself; plans
        for it are such that it places them, in its own order of roles, and none of them is faster than the best of all."""

        def maxtext_of(plan):  # how MaxText would place it; None: it does not take its degrees or knobs
            return next((way for way in plan["launch"] if way["launcher"] == "maxtext"), None)

        impossible = options = 0
        for machine in ("--model mixtral-8x7b --slice 4x8x8 --batch 1Mi --top 8", "--model 70b --slice 8x8x16 --batch 2Mi --top 8",
                        "--model 8b --chip v6e --slice 16x16 --batch 2Mi --top 8",
                        "--model 8b --slice 4x4x4 --slices 2 --batch 1Mi --top 8"):
            free = self.report(machine + " --for any")
            for plan in free["plans"]:
                if way := maxtext_of(plan):
                    can = way["placement"] != "impossible"
                    self.assertEqual(can, "maxtext" in plan["launchable_by"], plan["notation"])
                    impossible += not can
                    if not can:
                        self.assertGreater(way["default_seconds"], plan["step"]["seconds"], plan["notation"])
            own = self.report(machine + " --for maxtext")
            self.assertEqual(own["request"]["nesting"], "maxtext")
            self.assertGreaterEqual(own["plans"][0]["step"]["seconds"], free["plans"][0]["step"]["seconds"] * (1 - 1e-9))
            for plan in own["plans"]:
                way = maxtext_of(plan)
                self.assertIn("maxtext", plan["launchable_by"], plan["notation"])
                self.assertIn(way["placement"], ("option", "default"), plan["notation"])
                if way["placement"] == "option":
                    options += 1
                    self.assertIn("allow_split_physical_axes=true", way["needs"])
        self.assertGreater(impossible, 0)
        self.assertGreater(options, 0)


if __name__ == "__main__":
    unittest.main()
