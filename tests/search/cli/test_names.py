# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of software in a table of runs: converted, each is priced as software that there are figures of, or is said to be
assumed. The stacks are those of cost/profiles/default.json that a reader of release notes would pick."""
import csv, json, os, re, subprocess, sys, unittest

from program import PROGRAM, Case

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "../../..")
CONVERT = os.path.join(SOURCES, "cost/measured/lab/convert.py")
DENSE = {"id": "", "source": "mine", "hardware": "h100", "chips": "64", "framework": "", "model": "llama3.1-8b",
         "seq_len": "8192", "global_batch": "64", "micro_batch": "1", "dp": "64", "fsdp": "zero1 (distributed optimizer)",
         "tp": "1", "sp": "0", "cp": "1", "pp": "1", "vpp": "1", "ep": "1", "remat": "none", "precision": "bf16",
         "step_time_s": "1", "date/version": "", "notes": ""}
SHARED = os.path.join(SOURCES, "../shared/runs")
ASSUMED, KNOWN = True, False
# name, column date/version, chip of the row: the stack, whether it is said to be assumed
NAMES = [
    ("NeMo 26.04 (MLPerf)", "MLPerf Training v6.0", "gb300", "megatron-bridge-26", KNOWN),
    ("NVIDIA NeMo Framework Release 26.06", "", "gb200", "megatron-bridge-26.06", KNOWN),
    ("NVIDIA NeMo Framework Release 25.04", "MLPerf Training v5.0", "h100", "mlperf-nvidia", KNOWN),
    ("NVIDIA NeMo 24.07", "", "h100", "nemo-24", KNOWN),
    ("NVIDIA NeMo", "", "h100", "nemo-24", ASSUMED),
    ("NeMo AutoModel 26.02", "", "h100", "automodel", KNOWN),
    ("Automodel", "", "gb300", "automodel", KNOWN),
    ("Megatron Bridge 26.06", "", "gb300", "megatron-bridge-26.06", KNOWN),
    ("megatron_bridge", "NeMo 26.04 container", "gb200", "megatron-bridge-26", KNOWN),
    ("Megatron-Bridge", "", "gb300", "megatron-bridge-25-fused", ASSUMED),
    ("Megatron-Core 0.16", "", "h100", "megatron-core", KNOWN),
    ("MegatronLM", "", "h100", "megatron-core", KNOWN),
    ("TorchTitan nightly", "2026-01", "h100", "torch-fsdp-eager", KNOWN),
    ("torchtune 0.6", "2026-01", "h100", "torch-fsdp-eager", ASSUMED),
    ("Axolotl 0.12", "2026-01", "h100", "torch-fsdp-eager", ASSUMED),
    ("LLaMA-Factory", "2026-01", "h100", "torch-fsdp-eager", ASSUMED),
    ("LLaMA Factory 0.9", "2026-01", "h100", "torch-fsdp-eager", ASSUMED),
    ("XTuner v1", "2026-01", "h100", "torch-fsdp-eager", ASSUMED),
    ("PyTorch Lightning 2", "2026-01", "h100", "torch-fsdp-eager", ASSUMED),
    ("nanoGPT", "2026-01", "h100", "torch-fsdp-eager", ASSUMED),
    ("OLMo-core 2", "2026-01", "h100", "torch-fsdp", ASSUMED),
    ("OLMo-core (FSDP2, torch.compile)", "2026-01", "h100", "torch-fsdp", KNOWN),
    ("veScale", "2026-01", "h100", "torch-fsdp", ASSUMED),
    ("DeepSpeed", "2026-01", "h100", "deepspeed-0.19", KNOWN),
    ("DeepSpeed 0.18 ZeRO-3", "", "h100", "deepspeed-0.19", KNOWN),
    ("Colossal-AI 0.5", "2026-01", "h100", "deepspeed-0.19", ASSUMED),
    ("Levanter", "2026-01", "h100", "jax-gpu", ASSUMED),
    ("EasyLM", "2026-01", "h100", "jax-gpu", ASSUMED),
    ("MaxText 2026", "", "h100", "jax-gpu", KNOWN),
    ("ms-swift 3.9", "2026-01", "h100", "megatron-core", ASSUMED),
    ("MindSpeed", "2026-01", "h100", "megatron-core", ASSUMED),
    ("HyperPod recipes", "2026-01", "h100", "megatron-core", ASSUMED),
    ("Some inhouse stack", "", "h100", "megatron-core", ASSUMED),
    ("Pai-Megatron-Patch", "", "h100", "megatron-core", KNOWN),
]


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        lines = (line for line in file if not line.startswith("#"))
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


class Names(Case):
    def priced(self, rows):
        with open(os.path.join(self.folder, "runs.tsv"), "w", encoding="utf-8") as file:
            file.write("\t".join(rows[0]) + "\n")
            file.writelines("\t".join(row.values()) + "\n" for row in rows)
        with open(os.path.join(self.folder, "runs.jsonl"), "w", encoding="utf-8") as file:
            subprocess.run([sys.executable, CONVERT, "--shardopt", PROGRAM, os.path.join(self.folder, "runs.tsv")],
                           stdout=file, stderr=subprocess.DEVNULL, check=True)
        code, out, err = self.run_line("validate runs.jsonl --format json")
        self.assertEqual(code, 0, err)
        return {run["id"]: run for run in json.loads(out)["runs"]}

    def test_a_name_is_matched_or_said_to_be_assumed(self):
        rows = [{**DENSE, "id": str(i), "framework": name, "date/version": date, "hardware": chip}
                for i, (name, date, chip, _, _) in enumerate(NAMES)]
        runs = self.priced(rows)
        for i, (name, _, _, stack, assumed) in enumerate(NAMES):
            with self.subTest(name):
                self.assertEqual(runs[str(i)]["stack"], stack)
                self.assertEqual("software as of" in (runs[str(i)]["assumed"] or ""), assumed, runs[str(i)]["assumed"])

    @unittest.skipUnless(os.path.isdir(SHARED), "no ../shared")
    def test_every_name_of_published_tables(self):
        """What is said of a stack holds a word of the name, or it is said to be assumed."""
        with open(os.path.join(SOURCES, "cost/profiles/default.json"), encoding="utf-8") as file:
            stacks = json.load(file)["stacks"]
        for table in ("train.tsv", "partial.tsv"):
            rows = rows_of(os.path.join(SHARED, table))
            for id_, run in self.priced(rows).items():
                row = next(row for row in rows if row["id"] == id_)
                stack = stacks[run["stack"]]
                said = " ".join([run["stack"], stack["title"], json.dumps(stack.get("matches", []))]).lower()
                names = f"{row['framework']} {row['date/version']} {row['hardware']}"
                words = re.findall(r"[a-z]{3,}", names.lower())
                with self.subTest(f"{row['framework']}: {run['stack']}"):
                    self.assertTrue(any(word in said for word in words) or "software as of" in (run["assumed"] or ""))


if __name__ == "__main__":
    unittest.main()
