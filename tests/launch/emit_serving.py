#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Start scripts of serving engines, read by the engines' own argument classes on a CPU.

bash runs each script with programs that only note their words. The words of a worker go to vLLM's or SGLang's parser, and
to their classes of parallelism, or to MaxText's config loader; those of the load test and of the router to theirs; what they
understood has to be what the point of the report has. TensorRT-LLM is in no package that a CPU takes: its options and keys
stand in a list below, read from its source, as do MaxText's where it is not installed.
"""
import argparse
import contextlib
import io
import json
import logging
import math
import os
import subprocess
import sys
import tempfile

import shardopt

CASES = [
    "--model 70b --chip h100 --nodes 1",
    "--model 70b --chip h100 --nodes 2 --mode disaggregated --kv-dtype fp8",
    "--model 405b --chip h100 --nodes 2 --precision fp8 --mode aggregated --require tensor=16",
    "--model deepseek-v3 --chip h200 --nodes 2 --mode aggregated --speculate 2:0.7",
    "--model deepseek-v3 --chip h200 --nodes 4 --mode disaggregated --require expert_tensor=1",
    "--model 8b --chip h100 --nodes 1 --speculate 3:0.6 --rate 5",
    "--model gpt-oss-120b --chip b200 --nodes 1 --mode aggregated",
    "--model 8b --chip l4 --chips 1",
    "--model 70b --chip h100 --chips 2 --precision fp8",
    "--model deepseek-v3 --chip h200 --nodes 1",
    "--model deepseek-v3 --chip h100 --nodes 12 --prompt 2048 --mode disaggregated",
    "--model qwen3-235b --chip h200 --nodes 1 --mode disaggregated --precision fp8",
    "--model kimi-k2 --chip gb200 --nodes 1 --prompt 8192 --answer 1024",
    "--model llama4-maverick --chip h200 --nodes 1 --precision fp8",
    "--model 405b --chip h200 --nodes 4 --precision fp8 --mode disaggregated",
    "--model qwen3-32b --chip gb200 --chips 4 --cached 60%",
    "--model 70b --chip h100 --nodes 1 --prompt 100000 --answer 1000",
]
MAXTEXT_CASES = [  # the name that MaxText has for the model, behind the options
    ("--model 8b --chip v5e --slice 2x4 --require tensor=8", "llama3.1-8b"),
    ("--model 70b --chip v5e --slice 4x4 --precision int8 --kv-dtype int8", "llama3.1-70b"),
    ("--model 70b --chip v5e --slice 4x4 --precision int8 --kv-dtype int8 --require tensor=16", "llama3.1-70b"),
    ("--model 405b --chip v6e --slice 8x8 --precision int8 --require tensor=64 --objective latency", "llama3.1-405b"),
    ("--model mixtral-8x7b --chip v6e --slice 2x4 --require tensor=8", "mixtral-8x7b"),
    ("--model gemma2-27b --chip v6e --slice 2x4 --kv-dtype int4 --prompt 2048 --require tensor=8", "gemma2-27b"),
    ("--model 8b --chip v5e --slice 2x4 --precision int8 --kv-dtype int8", "llama3.1-8b"),
    ("--model 8b --chip v6e --slice 2x2 --prompt 4096 --answer 512", "llama3.1-8b"),
    ("--model 70b --chip v5p --slice 2x2x2", "llama3.1-70b"),
]
NOTE = """#!/usr/bin/env python3
import json, os, sys
if sys.argv[1] == "-c":  # asks where MaxText lies
    sys.exit(print(os.environ["MAXTEXT"]))
config = [open(word).read() for word in sys.argv[1:] if "/tmp." in word]
line = json.dumps([os.path.basename(sys.argv[0]), *sys.argv[1:], *config])
with open(os.path.join(os.path.dirname(sys.argv[0]), "log"), "a") as log:
    log.write(line + "\\n")
import time
time.sleep(0.3)
"""
PROGRAMS = "vllm python vllm-router trtllm-serve nginx genai-perf mpirun".split()

# tensorrt_llm/commands/serve.py @00209af, the options of `serve`; tensorrt_llm/llmapi/llm_args.py, keys of TorchLlmArgs.
TRTLLM_OPTIONS = set("""--host --port --backend --max_beam_width --max_batch_size --max_num_tokens --max_seq_len
    --tensor_parallel_size --tp_size --pipeline_parallel_size --pp_size --context_parallel_size --cp_size
    --moe_expert_parallel_size --ep_size --gpus_per_node --free_gpu_memory_fraction
    --kv_cache_free_gpu_memory_fraction --trust_remote_code --config --extra_llm_api_options
    --enable_chunked_prefill""".split())
TRTLLM_KEYS = {"enable_attention_dp": set(), "enable_chunked_prefill": set(), "disable_overlap_scheduler": set(),
               "kv_cache_config": {"free_gpu_memory_fraction", "dtype"},
               "cuda_graph_config": {"enable_padding", "max_batch_size"},
               "cache_transceiver_config": {"backend", "max_tokens_in_buffer"},
               "speculative_config": {"decoding_type", "num_nextn_predict_layers", "max_draft_len", "speculative_model"}}

# maxtext 0.2.5, fields of MaxTextConfig in configs/types.py.
MAXTEXT_KEYS = set("""ici_tensor_parallelism ici_autoregressive_parallelism per_device_batch_size max_target_length
    quantization checkpoint_is_quantized quantize_kvcache kv_quant_dtype model_name tokenizer_path load_parameters_path
    ici_fsdp_parallelism dcn_data_parallelism inference_server max_prefill_predict_length""".split())


def need(holds, sentence):
    if not holds:
        raise SystemExit(f"FAIL {sentence}")


def noted(script, way, rank, model="a/b"):
    """What each program was given when the script is run on a host."""
    with tempfile.TemporaryDirectory() as folder:
        for name in PROGRAMS:
            with open(os.path.join(folder, name), "w") as file:
                file.write(NOTE.replace("/usr/bin/env python3", sys.executable))
            os.chmod(os.path.join(folder, name), 0o755)
        os.symlink("/bin/true", os.path.join(folder, "sleep"))  # what waits for another host waits no longer
        hosts = " ".join(f"host{i}" for i in range(64))
        os.mkdir(os.path.join(folder, "configs"))
        environment = dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}", MODEL="a/b", DRAFT="c/d", HOSTS=hosts,
                           NODE_RANK=str(rank), MODEL_NAME=model, TOKENIZER="t o/k", MAXTEXT=folder)
        subprocess.run(["bash", script, way], env=environment, capture_output=True)
        path = os.path.join(folder, "log")
        if not os.path.exists(path):
            return []
        with open(path) as file:
            return [json.loads(line) for line in file]


# ---- the packages ----

def vllm_package():
    import vllm.platforms as platforms
    from vllm.platforms.cpu import CpuPlatform
    platforms._current_platform = CpuPlatform()
    from vllm.benchmarks.serve import add_cli_args
    from vllm.config import KVTransferConfig, ParallelConfig
    from vllm.engine.arg_utils import AsyncEngineArgs
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    serve, bench = FlexibleArgumentParser(), FlexibleArgumentParser()
    AsyncEngineArgs.add_cli_args(serve)
    for own in ("--host", "--port"):  # of the server around the engine
        serve.add_argument(own)
    serve.add_argument("--headless", action="store_true")
    add_cli_args(bench)

    def worker(words, pool, devices):
        words = words[2:]
        need(words[0] == "a/b", f"the model is {words[0]}")
        args = serve.parse_args(words[1:])
        axes, sequences = pool["axes"], pool["batch"]
        parallel = ParallelConfig(tensor_parallel_size=args.tensor_parallel_size,
                                  pipeline_parallel_size=args.pipeline_parallel_size,
                                  data_parallel_size=args.data_parallel_size,
                                  enable_expert_parallel=args.enable_expert_parallel,
                                  decode_context_parallel_size=args.decode_context_parallel_size)
        need(parallel.world_size * args.data_parallel_size == devices, f"{words}: ranks are not {devices}")
        need((args.tensor_parallel_size, args.data_parallel_size, args.enable_expert_parallel) ==
             (axes["tensor"], axes["attention_data"], axes["expert"] > 1), f"{words}: not {axes}")
        if pool["phase"] != "prefill":
            need(args.max_num_seqs == -(-sequences // axes["attention_data"]), f"{words}: not {sequences} in flight")
        need(args.max_num_batched_tokens >= args.max_num_seqs, f"{words}: the budget is below the batch")
        if args.kv_transfer_config:
            role = args.kv_transfer_config["kv_role"] if isinstance(args.kv_transfer_config, dict) \
                else args.kv_transfer_config.kv_role
            KVTransferConfig(kv_connector="NixlConnector", kv_role=role)
            need(role == ("kv_producer" if pool["phase"] == "prefill" else "kv_consumer"), f"{words}: {role}")
        if args.speculative_config:
            need(args.speculative_config["method"] in ("mtp", "eagle3"), f"{words}: {args.speculative_config}")

    return worker, lambda words: bench.parse_args(words[3:])


def sglang_package():
    from sglang.srt.server_args import ServerArgs

    parser = argparse.ArgumentParser(allow_abbrev=False)
    ServerArgs.add_cli_args(parser)

    def worker(words, pool, devices):
        args = ServerArgs.from_cli_args(parser.parse_args(words[3:]))
        axes = pool["axes"]
        need(args.tp_size * args.pp_size == devices, f"{words}: ranks are not {devices}")
        need(args.attn_dp_size == axes["attention_data"], f"{words}: not {axes}")
        need(args.ep_size == axes["expert"], f"{words}: not {axes}")
        if pool["phase"] != "prefill":
            need(args.max_running_requests == pool["batch"], f"{words}: not {pool['batch']} in flight")
        need(args.disaggregation_mode == {"both": "null", "prefill": "prefill", "decode": "decode"}[pool["phase"]],
             f"{words}: another pool")

    return worker, None  # its load test asks for more than its arguments: see tests/search/cli/lines/serving_emit.tsv


def trtllm_words(words, pool, devices):
    config = words.pop()
    if words[0] == "mpirun":
        need(int(words[2]) == devices, f"{words}: ranks are not {devices}")
        words = words[words.index("trtllm-serve"):]
    flags = [word for word in words if word.startswith("--")]
    need(set(flags) <= TRTLLM_OPTIONS, f"{set(flags) - TRTLLM_OPTIONS} are no options of trtllm-serve")
    value = dict(zip(words, words[1:]))
    need(int(value["--tp_size"]) * int(value.get("--pp_size", 1)) == devices, f"{words}: ranks are not {devices}")
    over = None
    for line in config.splitlines():
        key = line.strip().split(":")[0]
        if line[0] != " ":
            need(key in TRTLLM_KEYS, f"{key} is no key of TensorRT-LLM")
            over = key
        else:
            need(key in TRTLLM_KEYS[over], f"{over}.{key} is no key of TensorRT-LLM")


def maxtext_package():
    """MaxText's own loader, and flax's reading of its rules: how many ways each of the arrays is cut."""
    os.environ |= {"DECOUPLE_GCLOUD": "TRUE", "JAX_PLATFORMS": "cpu"}
    logging.disable(logging.CRITICAL)
    with contextlib.redirect_stdout(io.StringIO()):
        import maxtext
        from flax.linen import logical_to_mesh_axes
        from maxtext.configs import pyconfig
    configs = os.path.join(maxtext.__path__[0], "configs")

    def load(words, devices):
        with contextlib.chdir(configs), contextlib.redirect_stdout(io.StringIO()):
            return pyconfig.initialize(["", *words], internal_compile=True, internal_compile_num_devices=devices,
                                       log_config=False, skip_jax_distributed_system=True)

    def ways(config, *names):
        sizes = dict(zip(config.mesh_axes, config.ici_parallelism))
        spec = logical_to_mesh_axes(names, config.logical_axis_rules)
        return [math.prod(sizes[axis] for axis in ([axes] if isinstance(axes, str) else axes or [])) for axes in spec]

    def worker(words, pool, devices):
        config, axes = load(words[3:], devices), pool["axes"]
        need(math.prod(config.ici_parallelism) == devices, f"{words}: degrees multiply to {config.ici_parallelism}")
        need(config.micro_batch_size_to_train_on == pool["batch"], f"{words}: not {pool['batch']} in flight")
        cut = ways(config, "cache_batch", "cache_sequence", "cache_heads", "cache_kv")
        need(cut == [axes["kv_batch"], axes["kv_sequence"], axes["tensor"] // axes["kv_batch"], 1],
             f"{words}: the cache is cut {cut}, and {axes}")
        need(config.num_kv_heads % cut[2] == 0, f"{words}: {config.num_kv_heads} heads of the cache {cut[2]} ways")
        need(ways(config, "embed", "mlp") == [1, axes["tensor"]], f"{words}: weights are not cut {axes['tensor']} ways")
        need(config.tokenizer_path == "t o/k" and config.load_parameters_path == "a/b", f"{words}: another path")
        need(config.max_prefill_predict_length < config.max_target_length, f"{words}: no room for an answer")
        need(config.inference_server == "MaxtextInterleavedServer", f"{words}: {config.inference_server}")
        need((config.quantization or "") == {"int8": "int8", "int4": "int4"}.get(pool["precision"], ""), f"{words}: weights")
        cache = str(config.kv_quant_dtype) if config.quantize_kvcache else "bf16"
        need(cache == pool["kv_dtype"], f"{words}: a cache of {cache}")
        for wrong in ("ici_tensor_paralelism=8", "max_target_length=many", "quantization=int5"):
            try:
                with contextlib.redirect_stderr(io.StringIO()):
                    load([*words[3:], wrong], devices)
            except Exception:  # pylint: disable=broad-except
                continue
            need(False, f"the loader takes {wrong}")

    return worker, None


def maxtext_words(words, pool, devices):
    value = dict(word.split("=", 1) for word in words[4:])
    need(set(value) <= MAXTEXT_KEYS, f"{set(value) - MAXTEXT_KEYS} are no keys of MaxText")
    inside = int(value["ici_tensor_parallelism"]) * int(value.get("ici_autoregressive_parallelism", 1))
    need(inside == devices, f"{words}: degrees multiply to {inside}")
    need(float(value["per_device_batch_size"]) * devices == pool["batch"], f"{words}: not {pool['batch']} in flight")


def router(words):
    if words[0] == "vllm-router":
        from vllm_router.router_args import RouterArgs
        words = words[1:]
    else:
        from sglang_router.router_args import RouterArgs
        words = words[3:]
    parser = argparse.ArgumentParser(allow_abbrev=False)
    RouterArgs.add_cli_args(parser, use_router_prefix=False, exclude_host_port=False)
    return parser.parse_args(words)


def graph_workers(text):
    """The words of each worker of a DynamoGraphDeployment, by its pool, without those that are Dynamo's own."""
    import yaml
    documents = list(yaml.safe_load_all(text))
    need(documents[-1]["kind"] == "DynamoGraphDeployment" and documents[-1]["apiVersion"] == "nvidia.com/v1beta1", text)
    for component in documents[-1]["spec"]["components"]:
        if component["type"] == "frontend":
            continue
        container = component["podTemplate"]["spec"]["containers"][0]
        environment = {item["name"]: item["value"] for item in container["env"]}
        words = [word.replace("$(MODEL)", environment["MODEL"]).replace("$(DRAFT)", "c/d") for word in container["args"]]
        pool = {"worker": "both"}.get(component["name"], component["name"])
        hosts = component.get("multinode", {"nodeCount": 1})["nodeCount"]
        devices = hosts * int(container["resources"]["limits"]["nvidia.com/gpu"])
        config = next((d["data"][f"{component['name']}.yaml"] for d in documents if d["kind"] == "ConfigMap"), None)
        yield pool, component["replicas"], devices, container["command"][-1], words, config


def check_graph(program, engine, report, point, worker):
    code, text, said = shardopt.run(program, "emit", "dynamo", "--from", report)
    need(code == 0, f"emit dynamo {engine}: exit {code}: {said}")
    for name, replicas, devices, module, words, config in graph_workers(text):
        pool = next(pool for pool in point["pools"] if pool["phase"] == name)
        need(replicas == pool["workers"], f"dynamo {engine}: {replicas} workers")
        if engine == "vllm":
            own = [i for i, word in enumerate(words) if word in ("--disaggregation-mode", "--kv-transfer-config")]
            words = [word for i, word in enumerate(words) if i not in own and i - 1 not in own]
            need(module == "dynamo.vllm", module)
            worker(["vllm", "serve", "a/b", *words[2:]], pool, devices)
        elif engine == "sglang":
            need(module == "dynamo.sglang", module)
            worker(["python", "-m", "sglang.launch_server", *words], pool, devices)
        else:
            keys = {line.split(":")[0] for line in config.splitlines() if line[0] != " "}
            own = {"tensor_parallel_size", "pipeline_parallel_size", "moe_expert_parallel_size", "max_batch_size",
                   "max_num_tokens", "max_seq_len"}
            need(keys <= TRTLLM_KEYS.keys() | own, f"{keys - TRTLLM_KEYS.keys() - own} are no keys of TensorRT-LLM")


def check(program, engine, case, folder, worker, bench):
    case, model = case if isinstance(case, tuple) else (case, "a/b")
    script, report = os.path.join(folder, "s.sh"), os.path.join(folder, "r.json")
    code, _, said = shardopt.run(program, "inference", *case.split(), "--engine", engine, "--format", "json", "-o", report)
    need(code == 0, f"{engine} {case}: exit {code}: {said}")
    code, _, said = shardopt.run(program, "emit", engine.replace("maxtext", "maxtext-serving"), "--from", report, "-o",
                                 script)
    need(code == 0, f"emit {engine} {case}: exit {code}: {said}")
    with open(report) as file:
        point = json.load(file)["best_point"]
    asked, workers = 0, 0
    for rank in range(4):
        started = noted(script, "start", rank, model)
        if not started and rank > 0:
            break
        for words in started:
            two = len(point["pools"]) == 2
            text = " ".join(words)
            phase = "both" if not two else "prefill" if ("kv_producer" in text or "--disaggregation-mode prefill" in text
                                                         or "disable_overlap_scheduler" in text) else "decode"
            pool = next(pool for pool in point["pools"] if pool["phase"] == phase)
            axes = pool["axes"]
            worker(words, pool, axes["tensor"] * axes["pipeline"] * axes["attention_data"])
            asked += 1
    need(asked > 0, f"{engine} {case}: nothing was started")
    if engine != "maxtext":
        check_graph(program, engine, report, point, worker)
    for words in noted(script, "test", 0):
        if bench and words[:3] == ["vllm", "bench", "serve"]:
            bench(words)
    routed = noted(script, "route", 0)
    if routed and engine in ("vllm", "sglang"):
        try:
            router(routed[0])
        except ImportError:
            pass
    return asked


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--shardopt", required=True)
    parser.add_argument("--only", help="one engine")
    options = parser.parse_args()
    program = os.path.abspath(options.shardopt)
    packages = {"vllm": vllm_package, "sglang": sglang_package, "maxtext": maxtext_package}
    checks, missing = {"tensorrt-llm": (trtllm_words, None), "maxtext": (maxtext_words, None)}, []
    for engine, package in packages.items():
        try:
            checks[engine] = package()
        except (ImportError, RuntimeError) as error:
            missing.append(f"{engine}: not installed ({error})")
    with tempfile.TemporaryDirectory() as folder:
        for engine, (worker, bench) in checks.items():
            if options.only and engine != options.only:
                continue
            cases = MAXTEXT_CASES if engine == "maxtext" else CASES
            for case in cases[:2] if len(missing) == len(packages) else cases:
                count = check(program, engine, case, folder, worker, bench)
                print(f"ok {engine} {case if isinstance(case, str) else case[0]}: {count} commands", flush=True)
    print("\n".join(missing))
    sys.exit(shardopt.SKIPPED if len(missing) == len(packages) else 0)


if __name__ == "__main__":
    main()
