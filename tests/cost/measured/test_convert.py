#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The words of sources, as cost/measured/lab/convert.py reads them: SHARDOPT_PROGRAM names the program."""
import collections
import os
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "cost/measured/lab"))
import convert  # noqa: E402
import convert_rl  # noqa: E402
import convert_serving  # noqa: E402
import tables  # noqa: E402

PROGRAM = tables.Program(os.environ.get("SHARDOPT_PROGRAM", str(ROOT / "build/shardopt")))
BASE = {"id": "words-1", "hardware": "h100", "chips": "64", "framework": "torchtitan", "model": "llama3.1-8b",
        "fsdp": "64 (zero3)", "remat": "none", "precision": "bf16", "date/version": "2026", "seq_len": "8192",
        "global_batch": "64", "micro_batch": "1", "step_time_s": "1"}


def read(**cells):
    row = tables.Row({**BASE, **{key: str(value) for key, value in cells.items()}}, 2)
    convert.read_tuning_row(row)
    reading = convert.Reading(row, PROGRAM)
    reading.read()
    return reading


class Words(unittest.TestCase):
    def test_recomputation(self):
        for framework, remat, said in (
                ("torchtitan", "none (no AC)", "none"), ("torchtitan", "Full", "full"),
                ("torchtitan", "full, every layer", "full"), ("torchtitan", "full, every 2 layers", "full:16"),
                ("torchtitan", "selective (every other layer)", "full:16"),
                ("torchtitan", "full (every 4 layers)", "full:8"), ("torchtitan", "selective (op)", "selective_by_op"),
                ("Megatron-LM", "full block for 5 layers", "full:5"),
                ("Megatron-LM", "selective", "attention_input=saved qkv=saved middle=saved mlp_input=saved "
                                             "gate_up=saved product=saved"),
                ("MaxText (JAX)", "selective (minimal)", "minimal"),
                ("MaxText (JAX)", "custom: qkv_proj offloaded, decoder input kept", "qkv_proj_offloaded"),
                ("NeMo", "selective (layernorm)", "layernorm"), ("NeMo", "selective (moe_act)", "moe_act")):
            self.assertEqual(read(framework=framework, remat=remat).request["remat"], said, remat)
        offloaded = read(remat="activations of 20 layers offloaded").request
        self.assertEqual(offloaded["remat_layers"], 20)
        self.assertIn("layer_input=offloaded", offloaded["remat"])

    def test_sharding(self):
        """`dp`, the group that is expected, and how many guesses that takes."""
        for framework, fsdp, copies, shards, guesses in (
                ("torchtitan", "8 (zero3)", 8, 8, 0), ("torchtitan", "zero3", 64, 64, 0), ("torchtitan", "zero3", 0, 64, 0),
                ("torchtitan", "zero2", 64, 64, 0), ("torchtitan", "FSDP", 1, 64, 0), ("torchtitan", "HSDP", 8, 8, 0),
                ("torchtitan", "8 (hsdp)", 8, 8, 0), ("torchtitan", "", 64, 64, 1),
                ("torchtitan", "unknown", 64, 64, 1), ("NVIDIA NeMo 25.04", "unknown", 64, 1, 1),
                ("NVIDIA NeMo 25.04", "zero1 (distributed optimizer)", 64, 1, 0), ("Megatron-LM", "none", 64, 1, 0),
                ("torchtitan", "99999999999999999999 (zero3)", 1, 64, 1)):
            reading = read(framework=framework, fsdp=fsdp, dp=copies)
            self.assertEqual(reading.degrees["fsdp"], shards, fsdp)
            self.assertEqual(reading.degrees["data"] * shards, 64, fsdp)
            self.assertEqual(reading.guesses, guesses, (fsdp, reading.notes))

    def test_precision(self):
        for chip, framework, text, said in (
                ("h100", "torchtitan", "bf16 params, fp32 reduce", None), ("h100", "torchtitan", "float8 rowwise", "fp8"),
                ("h100", "torchtitan", "mxfp8", "fp8"), ("b300", "torchtitan", "mxfp8", "mxfp8"),
                ("b300", "torchtitan", "nvfp4", "nvfp4"), ("mi355x", "Primus", "mxfp4", "nvfp4"),
                ("tpu-v5p", "MaxText (JAX)", "int8", "int8")):
            reading = read(hardware=chip, framework=framework, precision=text)
            self.assertEqual(reading.request.get("precision"), said, text)
            self.assertEqual(reading.guesses, 0, reading.notes)
        self.assertEqual(read(framework="fms-fsdp (PyTorch FSDP)", precision="bf16 params, fp32 reduce").request["state"],
                         "gradients=fp32")
        self.assertEqual(read(precision="fp8 or bf16 (not stated)").guesses, 1)

    def test_machine(self):
        """384 chips of v6e are not one slice: the fewest are 3 of 128."""
        reading = read(framework="MaxText (JAX)", hardware="tpu-v6e", chips=384, global_batch=384, fsdp="128 (zero3)")
        self.assertEqual((reading.request["slices"], reading.guesses), (3, 1))
        for note, chips, slices, shape in (("4 slices of 8x8", 256, 4, "8x8"), ("one v6e-256 slice", 256, None, None)):
            request = read(framework="MaxText (JAX)", hardware="tpu-v6e", chips=chips, global_batch=chips,
                           topology_note=note, fsdp="64 (zero3)").request
            self.assertEqual((request.get("slices"), request.get("slice")), (slices, shape), note)
        with self.assertRaisesRegex(tables.Wrong, "does not multiply"):
            read(tp=10**7, pp=10**7)
        with self.assertRaisesRegex(tables.Wrong, "the catalog has no nochip"):
            read(hardware="nochip")

    def test_network(self):
        for note, gigabits in (
                ("EFA 3200 Gb/s per node", 3200), ("4x100 Gb/s RoCE per node", 400),
                ("8x ConnectX-7 IB NDR 400Gb/s", 3200), ("400 Gb/s RoCE per GPU", 3200), ("3.2 Tb/s InfiniBand", 3200),
                ("Omni-Path inter-node", 400), ("GPUDirect-TCPXO", 1600), ("64 nodes x 8 GPU; fabric not stated", 0),
                ("Storage: 200 Gb/s InfiniBand", 0), ("NVLink 900 GB/s", 0),
                ("Compute: 8x 400 Gb/s InfiniBand; 100 Gb/s Ethernet", 3200)):
            self.assertEqual(convert.network_gigabits(note, 8), gigabits, note)

    def test_figures(self):
        base = {"step_time_s": "", "mfu": "0.4"}
        for convention, counted, peak in (
                ("6N (all params) + 12 L d s, attention not halved; peak 989", "full, embedding", 989e12),
                ("6N (LM head in), causal attention halved; peak 989", "causal", 989e12),
                ("Megatron 2021", "megatron 2021", 989e12), ("peak 989 bf16 / 1979 fp8", None, 989e12)):
            measured = read(mfu_convention=convention, **base).measured
            self.assertEqual((measured.get("counted"), measured["peak_flops_per_second"]), (counted, peak), convention)
        self.assertEqual(read(mfu_convention="peak 989 bf16 / 1979 fp8", precision="fp8", **base).measured[
            "peak_flops_per_second"], 1979e12)
        self.assertEqual(read(notes="an evaluation pass inside").measured["step_factor"], 1.06)
        gib = 2.0**30
        for source, unit, shows in (("pytorch/torchtitan docs", gib, "reserved"),
                                    ("mlcommons/training_results_v5.0", gib, None),
                                    ("nanotron, Ultra-Scale Playbook", gib, "reserved"),
                                    ("bigscience-workshop", 1000 * 2.0**20, "device"), ("web", 1e9, None)):
            measured = read(source=source, mem_gb_per_chip=40).measured
            self.assertEqual((measured["memory_bytes"], measured.get("memory_shows")), (40 * unit, shows), source)

    def test_software(self):
        self.assertEqual(read().request["stack"], "torch-fsdp-eager")
        self.assertEqual(read(precision="bf16, torch.compile").request["stack"], "torch-fsdp")
        self.assertEqual(read(framework="somebody's own").guesses, 1)
        self.assertEqual(read(framework="MaxText (JAX)", model="mixtral-8x7b", hardware="h100", experts=8,
                              notes="capacity factor 1.25").request["capacity_factor"], 1.25)


class Labels(unittest.TestCase):
    def test_families(self):
        for name, family in (("llmfoundry-001", "llmfoundry"), ("mlperf-v5.0-nebius-x", "mlperf-v5.0"),
                             ("maxtext-v5p-1024b", "maxtext"), ("nemo24.03.01-gpt", "nemo24"),
                             ("tpurec-old-v5e", "tpurec"), ("mlperf-v3.1", "mlperf-v3.1"), ("one", "our cluster")):
            self.assertEqual(convert.family_of(tables.Row({"id": name, "source": "our cluster"}, 2)), family)

    def test_frameworks(self):
        for text, label in (("llm-foundry (Composer + PyTorch FSDP, flash attention)", "llm-foundry"),
                            ("NVIDIA Megatron-Bridge / Megatron-Core", "Megatron-Bridge"),
                            ("NVIDIA NeMo Framework Release 24.04", "NeMo"), ("Megatron-Core r0.8.0", "Megatron-Core"),
                            ("Paxml (JAX) + Transformer Engine", "Paxml"), ("24.07", "24.07"), ("", "not said")):
            self.assertEqual(convert.framework_of(tables.Row({"id": "a", "framework": text}, 2)), label)

    def test_aside(self):
        for name, notes, confidence, chips, aside in (
                ("nanotron-1", "tied; slow-p2p", "B", 8, True), ("nanotron-1", "tied", "B", 8, False),
                ("nanotron-1", "tied", "C", 8, True), ("nanotron-1", "", "B", 256, False),
                ("nanotron-1", "", "B", 257, True), ("other-1", "slow-p2p", "C", 512, False)):
            row = tables.Row({"id": name, "notes": notes, "confidence": confidence, "chips": str(chips)}, 2)
            self.assertEqual(bool(convert.aside_of(row)), aside, (name, notes, confidence, chips))


class FineTuning(unittest.TestCase):
    """Rows of fine-tuning in the words of their sources, and what they are in the columns of pre-training."""

    @staticmethod
    def row(**cells):
        row = tables.Row({"id": "t-1", "method": "lora", "chips": "4", "result": "ok",
                          **{key: str(value) for key, value in cells.items()}}, 2)
        convert.read_tuning_row(row)
        return row

    def test_degrees(self):
        for text, framework, chips, degrees, fsdp, sp in (
                ("tp2 pp4 cp1 vp20 fsdp", "NeMo", 64, (2, 4, 1, 20, 0), "tp2 pp4 cp1 vp20 fsdp", 1),
                ("tp2 pp4 cp8 vp5 ep16 fsdp2", "Megatron-Bridge", 64, (2, 4, 8, 5, 16), "zero1", 1),
                ("tp1 pp1 cp1 fsdp1", "Megatron-Bridge", 64, (1, 1, 1, 0, 0), "none", -1),
                ("fsdp", "", 8, (0, 0, 0, 0, 0), "fsdp", -1), ("zero3", "", 8, (0, 0, 0, 0, 0), "zero3", -1),
                ("ddp", "", 8, (0, 0, 0, 0, 0), "none", -1), ("", "", 1, (0, 0, 0, 0, 0), "none", -1),
                ("", "", 2, (0, 0, 0, 0, 0), "fsdp", -1), ("http2 tp tp10", "", 8, (10, 0, 0, 0, 0), "none", 1)):
            row = self.row(parallel=text, framework=framework, chips=chips)
            self.assertEqual((row.tp, row.pp, row.cp, row.vpp, row.ep), degrees, text)
            self.assertEqual((row.fsdp, row.sp), (fsdp, sp), text)

    def test_lengths(self):
        for text, seq, found, longest, seconds, memory in (
                ("", 2048, 2048, 0, 3, 20), ("mean 210 tokens a sample, longest example 1304 tokens", 0, 210, 1304, 3, 20),
                ("mean 210 tokens a sample", 0, 210, 0, 3, 0), ("mean 210 tokens a sample", 512, 210, 512, 3, 20),
                ("longest example 1304 tokens", 0, 1304, 0, 0, 20), ("4,096 tokens packed", 0, 4096, 0, 3, 20),
                ("4,096 tokens packed", 512, 512, 0, 3, 20), ("real lengths shorter", 2048, 2048, 0, 0, 20)):
            row = self.row(seq_note=text, seq_len=seq, step_s=3, mem_gb_peak=20)
            self.assertEqual((row.seq_len, row.longest, row.step_time_s, row.mem_gb_per_chip),
                             (found, longest, seconds, memory), text)

    def test_batches_and_seconds(self):
        for notes, micro, accumulation, batch, expert, found, seconds, samples, step in (
                ("", 3, 5, 0, 0, 60, 0, 30, 2), ("", 1, 0, 0, 1, 4, 0, 0.5, 8), ("", 3, 1, 0, 2, 0, 7, 30, 7),
                ("", 3, 5, 99, 0, 99, 0, 30, 3.3), ("", 3, 5, 99, 0, 99, 0.5, 30, 0.5), ("", 0, 5, 0, 0, 0, 7, 0, 7),
                ("step_s is one iteration", 3, 5, 99, 0, 12, 7, 0, 7)):
            row = self.row(notes=notes, micro_batch=micro, grad_accum=accumulation, global_batch=batch,
                           parallel=f"ep{expert}", step_s=seconds, samples_per_s=samples)
            self.assertEqual(row.global_batch, found)
            self.assertAlmostEqual(row.step_time_s, step)

    def test_recomputation_and_failures(self):
        for remat, framework, result, chips, found, memory in (
                ("False", "", "ok", 4, "none", 20), ("True", "", "ok", 4, "full", 20),
                ("offload", "", "ok", 4, "custom: decoder input offloaded", 20),
                ("", "HF SFTTrainer", "ok", 1, "full", 20), ("", "litgpt", "ok", 1, "none", 20),
                ("", "litgpt", "ok", 2, "full", 0), ("", "torchtune", "ok", 8, "none", 20),
                ("none", "", "fails: CUDA", 4, "none", 0), ("none", "", "CUDA out of memory", 4, "none", 0)):
            row = self.row(act_ckpt=remat, framework=framework, result=result, chips=chips, step_s=2, mem_gb_peak=20)
            self.assertEqual((row.remat, row.mem_gb_per_chip, row.failed), (found, memory, result != "ok"), remat)

    def test_rows_that_cannot_be_read(self):
        for column, value, why in (("chips", "eight", "not a whole number"), ("chips", "1.5", "has a fraction"),
                                   ("mfu", "x", "not a number")):
            with self.assertRaisesRegex(tables.Wrong, why):
                tables.Row({"id": "a", column: value}, 2)
        self.assertEqual(tables.Row({"id": "a", "micro_batch": "0.5"}, 2).micro_batch, 1)
        self.assertEqual(tables.Row({"id": "a", "seq_len": "4Ki", "mfu": "41%"}, 2).seq_len, 4096)


class ReinforcementLearning(unittest.TestCase):
    ROW = {"id": "nemorl-v0.6-grpo-qwen3-32b", "model": "Qwen3-32B", "algorithm": "GRPO", "policy": "1-step off-policy", "hardware": "h100",
           "gpus": "64", "train_gpus": "32", "rollout_gpus": "32", "colocated": "no", "train_parallel": "[t] [4,2,1,4]",
           "rollout_parallel": "[t] [2,1]", "precision_train": "fp8", "rollout_batch_seqs": "1024", "train_batch_seqs": "256",
           "max_len": "8192", "mean_len": "1500.6"}

    def test_a_row(self):
        words = convert_rl.command(self.ROW)
        options = dict(zip(words[::2], words[1::2]))
        self.assertEqual(options, {
            "--model": "qwen3-32b", "--chip": "h100", "--chips": "64", "--algorithm": "grpo", "--prompts": "32", "--samples": "32",
            "--prompt": "105", "--answer": "1501", "--max-answer": "8087", "--train-batch": "256",
            "--train-plan": "tensor=4 sequence=2 pipeline=4 virtual_stages=1", "--remat": "none",
            "--rollout": "tensor=2 pipeline=1 attention_data=1", "--rollout-memory": "0.8", "--precision": "fp8",
            "--rollout-precision": "fp8", "--partial": "yes", "--train-nodes": "4", "--lag": "1"})
        self.assertEqual(convert_rl.command({**self.ROW, "colocated": "yes"})[-1], "--colocated")
        for lacking in ("mean_len", "train_gpus"):
            self.assertIsNone(convert_rl.command({**self.ROW, lacking: ""}), lacking)


class Software(unittest.TestCase):
    """Rows of published tables, and of sources that are in none of our tables, as their columns read."""

    ROWS = (
        ("Megatron-DeepSpeed", "Feb 2022", "", "a100-80g", "bloom"),
        ("InternEvo", "2023", "", "a100-80g", "internevo-2023"),
        ("DeepSpeed ZeRO-3 (no model parallel)", "2021", "", "a100-80g", "deepspeed-zero3-2021"),
        ("Megatron-LM", "Apr 2021", "", "a100-80g", "megatron-2021"),
        ("Megatron-LM", "May 2022", "", "a100-80g", "megatron-2021"),
        ("Megatron-LM", "arXiv 2205.05198", "", "a100-80g", "megatron-2021"),
        ("Megatron-LM", "2024", "", "a100-80g", "megatron-lm-2023"),
        ("MegaScale", "Feb 2024", "", "a100-80g", "megatron-core"),
        ("Megatron-Core r0.8.0", "Jul 2024", "", "h100", "megatron-core"),
        ("Megatron-LM / Megatron-Core", "2025", "", "h100", "megatron-core"),
        ("llm-foundry (Composer + PyTorch FSDP, flash attention)", "v0.0.4-era sweep, torch 2.1", "", "a100-40g", "torch-fsdp-2023"),
        ("torchtitan (PyTorch FSDP2)", "2025", "", "h100-96g", "torchtitan-2024-eager"),
        ("torchtitan (PyTorch FSDP2)", "2025", "torch.compile; async TP", "h100-96g", "torchtitan-2025"),
        ("torchtitan (PyTorch FSDP2)", "Dec 2024", "compile", "h100-96g", "torchtitan-2024"),
        ("torchtitan (PyTorch FSDP2)", "2026", "compile", "h100", "torch-fsdp"),
        ("Megatron-LM 23e00ed (TE 2.11)", "2026", "all communication overlap flags OFF", "b200", "megatron-core-serial"),
        ("fms-fsdp", "2024", "", "a100-80g", "torch-fsdp"),
        ("NVIDIA NeMo 24.03.01", "NeMo 24.03.01, 2024", "", "h100", "nemo-24"),
        ("NVIDIA NeMo 25.04.rc2", "2025", "", "b200", "nemo-24"),
        ("NVIDIA Megatron-Bridge / Megatron-Core", "NeMo 25.09 container", "", "b200", "megatron-bridge-25"),
        ("NVIDIA Megatron-Bridge / Megatron-Core", "NeMo 25.09 container", "tokendrop; token-drop MoE", "h100", "megatron-bridge-25-fused"),
        ("NVIDIA Megatron-Bridge / Megatron-Core", "NeMo 26.02 container", "dispatcher hybridep; router", "b300", "megatron-bridge-26"),
        ("NVIDIA Megatron-Bridge / Megatron-Core", "NeMo 26.02 container", "MoE all-to-all overlap on; dispatcher deepep", "h100", "megatron-bridge-26"),
        ("NVIDIA Megatron-Bridge / Megatron-Core", "NeMo 26.02 container", "", "b300", "megatron-bridge-25"),
        ("NVIDIA Megatron-Bridge / Megatron-Core", "NeMo 26.02.01 container", "inferred: recompute setting not found for this row", "b300", "megatron-bridge-26"),
        ("NVIDIA Megatron-Bridge / Megatron-Core", "NeMo 26.02.01 container", "recompute from perf config", "b300", "megatron-bridge-25"),
        ("NVIDIA Megatron-Bridge / Megatron-Core", "NeMo 26.04 container", "", "b200", "megatron-bridge-26"),
        ("NVIDIA Megatron-Bridge / Megatron-Core", "NeMo 26.04.01 container", "", "h100", "megatron-bridge-25"),
        ("NVIDIA Megatron-Bridge / Megatron-Core", "NeMo 25.11 container", "", "gb200", "megatron-bridge-25-fused"),
        ("NVIDIA Megatron-Bridge / Megatron-Core", "NeMo 26.06 container", "dispatcher hybridep", "h100", "megatron-bridge-26"),
        ("NVIDIA Megatron-Bridge / Megatron-Core", "NeMo 26.06 container", "", "gb200", "megatron-bridge-26.06"),
        ("NVIDIA Megatron-Bridge / Megatron-Core", "NeMo 26.08 container", "dispatcher hybridep", "gb300", "megatron-bridge-26.06"),
        ("NVIDIA Megatron-Bridge / Megatron-Core", "NeMo 26.06 container", "functional recipe", "gb200", "megatron-bridge-26.06-as-is"),
        ("NVIDIA NeMo Framework Release 25.04", "MLPerf Training v5.0", "", "gb200", "mlperf-nvidia"),
        ("PyTorch", "MLPerf Training v5.1", "", "b200", "mlperf-nvidia"),
        ("PyTorch 2.0.1a0", "MLPerf Training v3.1", "", "gaudi2", "gaudi-2023"),
        ("PyTorch 2.1.1", "MLPerf Training v4.0", "", "gaudi2", "gaudi"),
        ("maxtext", "MLPerf Training v4.0", "", "tpu-v5p", "mlperf-google"),
        ("PAX", "MLPerf Training v3.1", "", "tpu-v5e", "mlperf-google"),
        ("MaxText (JAX)", "MaxText README table, 2023-24", "", "tpu-v5e", "maxtext-tpu-2023"),
        ("MaxText (JAX)", "jax 0.6.1; tpu-recipes-v0.1.4", "", "tpu-v6e", "maxtext-tpu"),
        ("MaxText (JAX)", "2024", "", "h100", "jax-gpu"),
        ("Paxml (JAX) + Transformer Engine", "Jun 2024", "", "a100-80g", "jax-gpu"),
        ("AXLearn (JAX)", "2024", "", "tpu-v5p", "maxtext-tpu"),
        ("AXLearn (JAX)", "2024", "", "h100", "jax-gpu"),
        ("PaLM (JAX/Pathways)", "2022", "", "tpu-v4", "maxtext-tpu"),
        ("NeuronX Distributed", "Neuron 2.24.0", "", "trainium1", "neuron"),
        ("Primus (Megatron backend)", "2025", "", "mi355x", "primus"),
        ("somebody's own", "", "", "h100", "megatron-core"),
        ("somebody's own", "", "", "tpu-v6e", "maxtext-tpu"),
    )

    def test_published(self):
        for framework, version, notes, chip, stack in self.ROWS:
            found = tables.stack_of(PROGRAM.stacks, framework, version, notes, "", PROGRAM.chip(chip))
            self.assertEqual(found, stack, (framework, version, notes, chip))

    def test_releases(self):
        """Releases compare number by number; an unknown one belongs to no release."""
        chip, match = PROGRAM.chip("h100"), {"framework": "core", "from": "2", "before": "3"}
        for version, inside in (("2", True), ("2.0", True), ("v2.9.99 of May", True), ("3", False), ("3.0", False),
                                ("10.1", False), ("1.99", False), ("", False), ("new", False), ("02", True),
                                ("2-3", True), ("99999999999999999999", False)):
            self.assertEqual(tables.match_holds(match, "the core", version, "", "", chip), inside, version)


class Serving(unittest.TestCase):
    ROW = {"id": "s-1", "source": "page", "model": "llama3.1-70b", "chip": "h100", "chips": "8", "engine": "vllm", "mode": "closed-loop",
           "tp": "8", "isl": "1024", "osl": "128", "concurrency": "8", "spec": "none"}

    def line(self, **cells):
        return convert_serving.line_of(collections.defaultdict(str, {**self.ROW, **cells}), PROGRAM)

    def test_types(self):
        for engine, model, weights, cache, precision, kv_dtype in (
                ("vllm", "llama3.1-70b", "", "", "bf16", "bf16"), ("vllm", "deepseek-v3", "", "", "fp8", "bf16"),
                ("sglang", "llama3.1-70b", "fp8(gemm fp8, moe fp8_block)", "", "fp8", "bf16"),
                ("tensorrt-llm", "llama3.1-70b", "fp4(gemm nvfp4)", "", "nvfp4", "fp8"),
                ("tensorrt-llm", "llama3.1-70b", "fp16", "", "bf16", "bf16"), ("trtllm", "gpt-oss-120b", "fp4", "fp16", "mxfp4", "bf16"),
                ("vllm", "llama3.1-70b", "w8a8", "int8", "int8", "int8"), ("vllm", "llama3.1-70b", "mxfp4", "fp8", "mxfp4", "fp8")):
            request = self.line(engine=engine, model=model, prec_w=weights, prec_kv=cache)["request"]
            self.assertEqual((request["precision"], request["kv_dtype"]), (precision, kv_dtype), (engine, model, weights))

    def test_layouts(self):
        self.assertEqual(self.line(ep="0", moe_tp="2")["plan"], {"tensor": 8, "expert": 4})
        self.assertEqual(self.line(dp="2", pp="1", ep="8", moe_tp="2")["plan"], {"workers": 2, "tensor": 8, "pipeline": 1, "expert": 8})
        two = self.line(mode="disagg", prefill_workers="3", prefill_tp="1", decode_attn_dp="8", decode_ep="0")
        self.assertEqual(two["plan"], {"prefill": {"workers": 3, "tensor": 1}, "decode": {"attention_data": 8}})

    def test_loads_and_figures(self):
        line = self.line(source="inferencex-db", spread="exponential", request_rate="inf", spec="unlabelled", tpot_ms="7.3", e2e_s="9.5")
        request = line["request"]
        self.assertEqual((request["length_share"], request["exponential_answers"], request["drafts_unknown"]), (0.9, True, True))
        self.assertNotIn("rate", request)
        self.assertEqual(line["measured"], {"tpot_seconds": 0.0073, "request_seconds": 9.5})
        self.assertEqual(self.line(chip="v6e", engine="vllm-tpu")["request"]["chip"], "tpu-v6e")
        self.assertEqual(self.line(engine="vllm-tpu")["framework"], "vllm-tpu")

    def test_rows_that_are_no_request(self):
        for cells, why in (({"engine": "mindie"}, "engines"), ({"spec": "yes: eagle"}, "speculation"), ({"osl": ""}, "lengths"),
                           ({"mode": "mlperf-server"}, "no fixed load"), ({"chip": "gtx-1080"}, "no chip")):
            self.assertIn(why, self.line(**cells)["not_replayed"])
        self.assertNotIn("not_replayed", self.line())


if __name__ == "__main__":
    unittest.main()
