#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests for which a time limit is hard to keep: --time-limit 2 on one thread, measured in seconds of the processor.

limits.py PROGRAM [--over S] [--only N]      exit 1: one goes over by more than S (0.5), or ends with another code

The limit is of the clock and the measure is of the processor: on a busy machine a run looks better than it is. Start and
reading of data count too.
"""
import argparse, json, os, pathlib, subprocess, sys, tempfile, time

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
LIMIT = 2
DENSE = {"model_type": "llama", "num_hidden_layers": 720, "hidden_size": 55440, "intermediate_size": 221760,
         "num_attention_heads": 720, "num_key_value_heads": 720, "head_dim": 77, "vocab_size": 720720,
         "max_position_embeddings": 1048576}
REQUESTS = [
    "--model 405b --chip v5p --pods 8 --brute-force",
    "--model DENSE --chip h100 --nodes 90720 --batch 1e10 --seq 8192 --nesting all --padding any --schedules all",
    "--model deepseek-v3 --chip h100 --nodes 65536 --batch 1e9 --schedules all",
    "--model 8b --chip h100 --nodes 131072 --batch 1e12 --seq 1e6",
    "--model 405b --chip v5p --pods 100 --nesting all --padding any --max-idle 0.5",
    "--model deepseek-v3 --chip gb300 --nodes 1024 --batch-tolerance 50% --max-idle 0.3",
    "--model kimi-k2 --chip v5p --pods 16 --nesting all --schedules all",
    "--model 70b --chip h100 --nodes 5040 --batch 1e9 --padding any --sensitivity all",
    "sweep --model 405b --chip v5p,v6e --chips 4096 --batch 16Mi,64Mi",
    "emit maxtext --model 405b --pods 8 --nesting all",
]
arguments = argparse.ArgumentParser()
arguments.add_argument("program")
arguments.add_argument("--over", type=float, default=0.5)
arguments.add_argument("--only", type=int)
options = arguments.parse_args()
bad = 0
with tempfile.TemporaryDirectory() as folder:
    (pathlib.Path(folder) / "dense.json").write_text(json.dumps(DENSE))
    for number, request in enumerate(REQUESTS, 1):
        if options.only not in (None, number):
            continue
        words = [f"{folder}/dense.json" if word == "DENSE" else word for word in request.split()]
        points = 4 if words[0] == "sweep" else 1
        begin = time.monotonic()
        process = subprocess.Popen([options.program] + words + ["--time-limit", str(LIMIT), "--threads", "1", "-q"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        state = "ended"
        while True:
            pid, status, used = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - begin > points * LIMIT + 60 and state == "ended":
                state = "cut by hand"
                process.kill()
            time.sleep(0.02)
        seconds = used.ru_utime + used.ru_stime
        code = os.waitstatus_to_exitcode(status)
        over = seconds - points * LIMIT
        wrong = over > options.over or state != "ended" or code not in (0, 3, 4)
        bad += wrong
        print(f"{'FAIL' if wrong else 'ok'}: {seconds:.1f} s of the processor, {time.monotonic() - begin:.1f} s, exit {code}, "
              f"{state}, {used.ru_maxrss >> 10} MB: {request}", flush=True)
sys.exit(1 if bad else 0)
