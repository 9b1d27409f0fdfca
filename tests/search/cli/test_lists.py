# SPDX-License-Identifier: GPL-3.0-or-later
"""Options that take lists: each value has a row, the same in either order; of one search, the same answer."""
import csv, io, itertools, os, unittest

from program import Case

PLAN = "sweep --model llama3.2-1b --chip h100 --nodes 1 --gpus-per-node 2 --seq 1024 --sequences 4 --for megatron"
TUNED = "sweep --model llama3.2-1b --chip h100 --nodes 1 --gpus-per-node 2 --sequences 4 --for trl"
SERVING = "sweep inference --model llama3.2-1b --chip h100 --nodes 1 --gpus-per-node 2 --prompt 128 --answer 64"
RL = "sweep rl --model llama3.2-1b --chip h100 --nodes 1 --gpus-per-node 2 --prompts 8 --samples 4 --answer 64"
# A line, an option (in place of the line's own), its values: a list by ";" where they have commas of their own.
ROWS = [
    (PLAN, "model", "llama3.2-1b llama3.1-8b"), (PLAN, "chip", "h100 b200 mi300x"), (PLAN, "nodes", "1 2"),
    (PLAN, "gpus-per-node", "2 4"), (PLAN, "oversubscription", "1 2"), (PLAN, "network", "100Gbps 8x400Gbps"),
    (PLAN, "host-memory", "600GB 1.5T"), (PLAN, "price", "2 3"), (PLAN, "sequences", "16 32"),
    (PLAN, "seq", "1024 2048"),
    (PLAN, "tokens", "1T 2T"), (PLAN, "require", "tensor=2;tensor=1,zero_stage=1;fsdp=2"),
    (PLAN, "rank", "practice time"),
    (PLAN, "for", "megatron;torchtitan;deepspeed;megatron,torchtitan;any"), (PLAN, "max-idle", "0 0.5"),
    (PLAN, "batch-tolerance", "0 5%"), (PLAN, "padding", "none launchable any"),
    (PLAN, "schedules", "launchable;all;1f1b;gpipe,1f1b"), (PLAN, "nesting", "default megatron all"),
    (PLAN, "objective", "time chip-hours cost"), (PLAN, "precision", "bf16 fp8 int8"),
    (PLAN, "optimizer", "adamw muon sgd"), (PLAN, "state-dtypes", "master=bf16;moments=bf16 gradients=bf16"),
    (PLAN, "remat", "auto;none;full;qkv=saved"), (PLAN, "offload", "none optimizer activations all"),
    (PLAN, "hbm-reserve", "0.1 0.4"), (PLAN, "profile", "ideal default"),
    (PLAN, "stack", "megatron-core megatron-bridge-26"),
    (PLAN, "mtbf", "3h none"), (PLAN, "restart", "5m 20m"), (PLAN, "storage", "10G 100G"),
    (TUNED, "lora", "8 16"), (TUNED, "qlora", "8;16;16,int8"), (TUNED + " --lora 16", "targets", "all-linear;q_proj,v_proj;mlp"),
    (TUNED, "task", "sft dpo"), (TUNED + " --task sft", "max-length", "1024 2048"),
    (TUNED + " --task sft", "mean-length", "300 600"),
    (TUNED + " --task sft --mean-length 300", "packing", "packed padded"),
    (TUNED + " --task sft", "samples", "10k 52k"), (TUNED + " --task sft", "epochs", "1 2"),
    (TUNED + " --lora 16", "offload", "none parameters"),
    (SERVING, "precision", "bf16 fp8 int8"), (SERVING, "kv-dtype", "bf16 fp8 int8"), (SERVING, "prompt", "128 256"),
    (SERVING, "engine", "vllm sglang tensorrt-llm any"),
    (SERVING, "mode", "aggregated disaggregated decode prefill any"),
    (SERVING, "require", "tensor=2;pipeline=1,tensor<=4"), (SERVING, "objective", "throughput latency cost"),
    (SERVING, "ttft", "1s 500ms"), (SERVING, "tpot", "30ms 10ms"),
    (SERVING + " --mode aggregated", "rate", "10/s 40/s"),
    (SERVING, "concurrency", "8 64"), (SERVING, "cached", "0 50%"), (SERVING, "speculate", "2:0.6 3:0.7"),
    (SERVING, "adapters", "4:16 8:16"), (SERVING, "max-model-len", "1024 4096"),
    (SERVING, "gpu-memory-utilization", "0.7 0.9"),
    (RL, "lag", "0 2"), (RL, "for", "megatron;torchtitan"), (RL, "rollout", "tensor=1;tensor=2"),
]
# One search over all values of a list: the same answer in either order.
ONE = [("precision", "bf16 fp8 int8"), ("kv-dtype", "bf16 fp8 int8"), ("engine", "vllm sglang tensorrt-llm")]


class Lists(Case):
    def rows(self, line, option, values, mark):
        words = line.split(" ")
        if "--" + option in words:
            at = words.index("--" + option)
            del words[at:at + 2]
        code, out, err = self.run_line(" ".join(words) + f" --{option} '{mark.join(values)}' -q --format csv")
        self.assertIn(code, (0, 3), f"{option} {values}: {err}")
        rows = [row[1:] for row in csv.reader(io.StringIO(out))][1:]
        self.assertEqual([row[0] for row in rows], values, out)
        return rows

    def test_values_are_rows_in_either_order(self):
        for line, option, values in ROWS if os.environ.get("WHOLE") else ROWS[::8 if os.environ.get("SANITIZED") else 3]:
            mark = ";" if ";" in values else ","
            values = values.split(";" if mark == ";" else " ")
            with self.subTest(line.split(" --")[0] + " --" + option):
                there, back = (self.rows(line, option, order, mark) for order in (values, values[::-1]))
                self.assertEqual(there, back[::-1])

    def test_a_list_of_one_search_has_one_answer(self):
        line = "inference --model llama3.2-1b --chip h100 --nodes 1 --gpus-per-node 2 --prompt 128 --answer 64 -q"
        for option, values in ONE:
            for pair in itertools.combinations(values.split(), 2):
                with self.subTest(option, pair=pair):
                    there, back = (self.report(f"{line} --{option} {','.join(order)}") for order in (pair, pair[::-1]))
                    self.assertEqual(there["front"], back["front"])
                    self.assertEqual(there["best_point"], back["best_point"])


if __name__ == "__main__":
    unittest.main()
