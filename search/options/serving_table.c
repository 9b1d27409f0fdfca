/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of `shardopt inference`, one row each. */
#include "search/options/machine_rows.h"

const CommandOption SERVING_OPTIONS[OPTION_COUNT] = {
    MACHINE_OPTION_ROWS(0),
    [OPTION_PROMPT] = INPUT_ROW("prompt", "TOKENS", 0, .heading = "Load", .help = "tokens of a prompt (1,024)"),
    [OPTION_ANSWER] = INPUT_ROW("answer", "TOKENS", 0, .key = "output", .help = "tokens of an answer (256)"),
    [OPTION_LENGTHS] = INPUT_ROW(
        "lengths", "NAME", 0, .help = "lengths that vary: azure-chat, sharegpt, rag and others, or a file of them",
        .details = "Lengths that vary, in place of --prompt and --answer: a workload of cost/serving/workloads "
                   "(azure-chat, azure-code, long-documents, mooncake-agent, mooncake-chat, rag, reasoning, sharegpt, "
                   "short-chat, summarization; each file says what it is and where it comes from), or a file with "
                   "lines of prompt tokens, output tokens and, if wanted, a weight, with blanks or tabs between; # "
                   "begins a comment. Rates and waits are of the means; memory and context are of the sequences in "
                   "flight, which are weighed by how long they stay.",
        .values = "azure-chat azure-code long-documents mooncake-agent mooncake-chat rag reasoning sharegpt "
                  "short-chat summarization"),
    [OPTION_CACHED] = INPUT_ROW("cached", "SHARE", 0, .help = "the share of a prompt in the prefix cache (0)"),
    [OPTION_TTFT] =
        INPUT_ROW("ttft", "TIME", 0, .help = "the first token comes within: 1s, 500ms (no limit; 2s for the best)",
                  .details = "The longest wait for the first token, at the load that is stated. Without it points "
                             "are not limited, and the best is chosen within 2 s."),
    [OPTION_TPOT] =
        INPUT_ROW("tpot", "TIME", 0, .help = "each further token comes within: 30ms (no limit; 50ms for the best)",
                  .details = "The longest mean time of each further token. Without it points are not limited, and "
                             "the best is chosen within 50 ms."),
    [OPTION_RATES] =
        INPUT_ROW("rates", "FILE", 0, .help = "requests per second, a line for each hour: replicas that follow them",
                  .values = "@files"),
    [OPTION_RATE] = INPUT_ROW("rate", "REQUESTS/s", 0, .help = "sustained requests per second: 40/s"),
    [OPTION_CONCURRENCY] = INPUT_ROW("concurrency", "N", 0, .help = "requests that are always in flight"),
    [OPTION_REQUESTS] = INPUT_ROW(
        "requests", "N", 0, .help = "a batch job of so many requests, for whose tokens nobody waits",
        .details =
            "A batch job: all requests are there, and no token has a limit; what serves most per chip costs least. "
            "The answer has its hours and dollars, and with --finish-in the copies that are enough."),
    [OPTION_FINISH_IN] =
        INPUT_ROW("finish-in", "TIME", 0, .help = "when the job of --requests has to be done: 8h, 90m"),
    [OPTION_SPECULATE] =
        INPUT_ROW("speculate", "K:ACCEPTANCE", 0, .help = "drafts of a step, and how often one is accepted: 3:0.7"),
    [OPTION_ADAPTERS] =
        INPUT_ROW("adapters", "N:RANK", 0, .help = "LoRA adapters served with the base, and their rank: 8:16",
                  .details = "LoRA adapters in HBM with the base (8:16: eight of rank 16), of which each request has "
                             "one: behind attention and MLPs, not in experts. Only engines that serve them (vllm, "
                             "sglang)."),
    [OPTION_PREFIXES] = INPUT_ROW(
        "prefixes", "N[:GB]", 0, .help = "distinct beginnings of --cached, and host memory of a chip for them",
        .details = "So many distinct beginnings, each the --cached share of a prompt and as likely as the "
                   "others: a hit needs room. HBM has what sequences leave, then GB of each chip's host "
                   "memory (copied, or computed again where that is quicker). One pool only."),
    [OPTION_ENGINE] =
        INPUT_ROW("engine", "NAME", 0, .heading = "Conditions",
                  .help = "vllm, sglang, tensorrt-llm, maxtext, several with commas, or any (the chip's)",
                  .details = "Only what these engines can launch: vllm, sglang, tensorrt-llm, maxtext, or "
                             "several with commas (those of the chip). With any: what divides and fits, under "
                             "the rules of none.",
                  .values = "vllm sglang tensorrt-llm maxtext any"),
    [OPTION_MODE] =
        INPUT_ROW("mode", "MODE", 0, .help = "aggregated, disaggregated, any; or one phase: decode, prefill (any)",
                  .details = "One pool that mixes prompts with decoding (aggregated), two pools with caches moved "
                             "between them (disaggregated), or both (any). decode and prefill are one phase alone, "
                             "for questions about a pool.",
                  .values = "aggregated disaggregated any decode prefill"),
    [OPTION_REQUIRE] =
        INPUT_ROW("require", "CONDITIONS", 0, .help = "only layouts like \"tensor=4 pipeline<=2\"",
                  .details = "Only layouts like \"tensor=4 pipeline<=2\": tensor, pipeline, attention_data, expert, "
                             "expert_tensor, kv_sequence, kv_batch, stationary, copies, batch, prefill_chips or "
                             "decode_chips, one of = <= >=, and a number."),
    [OPTION_OBJECTIVE] =
        INPUT_ROW("objective", "WHAT", 0, .help = "throughput, latency, cost or chips (throughput)",
                  .details = "What is best within the limits: most tokens per second, least time per token, "
                             "least cost per token, or the fewest chips that carry --rate (throughput).",
                  .values = "throughput latency cost chips"),
    [OPTION_PRECISION] = INPUT_ROW("precision", "TYPES", 0, .heading = "Physics",
                                   .help = "of weights: bf16, fp8, int8, mxfp4, nvfp4, int4, or several (as published)",
                                   .values = "bf16 fp8 int8 mxfp4 nvfp4 int4"),
    [OPTION_KV_DTYPE] =
        INPUT_ROW("kv-dtype", "TYPES", 0, .help = "of the cache: bf16, fp8, int8, int4, or several with commas (bf16)",
                  .values = "bf16 fp8 int8 int4"),
    [OPTION_MAX_MODEL_LEN] = INPUT_ROW(
        "max-model-len", "TOKENS", 0, .help = "the longest request that servers accept (prompt and answer)",
        .details = "The longest request that servers accept, prompt and answer (those of --prompt and --answer): only "
                   "layouts whose memory holds one are planned, and servers are started with it."),
    [OPTION_GPU_MEMORY] =
        INPUT_ROW("gpu-memory-utilization", "SHARE", 0, .help = "of HBM that vLLM or SGLang takes (0.90 and 0.88)",
                  .details = "The share of HBM that vLLM or SGLang (--mem-fraction-static) takes (0.90 and 0.88). What "
                             "TensorRT-LLM and MaxText take is not of all HBM, and stays."),
    [OPTION_PROFILE] = INPUT_ROW("profile", "NAME", 0, .help = "ideal (roofline only), default, or a file (default)",
                                 .values = "default ideal"),
    [OPTION_TOP] = INPUT_ROW("top", "K", USE_INFERENCE, .heading = "Output",
                             .help = "show K points of the Pareto front (else up to 4 that differ in kind)"),
    [OPTION_BRUTE_FORCE] =
        OPTION_ROW("brute-force", NULL, USE_INFERENCE, .help = "evaluate every point, to check the bounds"),
    [OPTION_TIME_LIMIT] =
        OPTION_ROW("time-limit", "S", 0, .help = "end after so many seconds with the best so far (no limit)"),
    [OPTION_FORMAT] =
        OPTION_ROW("format", "FORMAT", USE_INFERENCE, .help = "text, json, markdown, html, csv or brief (text)",
                   .values = "text json markdown html csv brief"),
    [OPTION_WHAT_IF] = {OPTION_ROW_WHAT_IF, .use = USE_INFERENCE},
    [OPTION_OUTPUT] = {OPTION_ROW_OUTPUT},
    [OPTION_CERTIFICATE] = OPTION_ROW(
        "certificate", "FILE", USE_INFERENCE, .help = "write what became of every layout and batch to this file too",
        .details = "Writes a table too, with a line for each layout that was visited or left out "
                   "and for each range of batches that was cut, with its bound. "
                   "`tests/certificate/check_serving.py` checks it together with the JSON report.",
        .values = "@files", .writes = true),
    [OPTION_TIMING] = OPTION_ROW("timing", NULL, 0, .help = "print on stderr how long it took"),
    [OPTION_VERBOSE] =
        OPTION_ROW("verbose", NULL, USE_INFERENCE, .letter = 'v',
                   .help = "the whole report: how it was searched, and what no engine's rules would allow",
                   .details = "A text in a file (-o) is always whole."),
    [OPTION_FROM] = OPTION_ROW("from", "REPORT", USE_EMIT,
                               .help = "a point of this JSON report of `inference`, instead of the options above",
                               .values = "@files"),
    [OPTION_RANK] = OPTION_ROW("rank", "N", USE_EMIT, .help = "which point of the front, from 1 (the best)"),
    [OPTION_UNDER] =
        OPTION_ROW("under", "SCHEDULER", USE_EMIT, .help = "the script as a job: slurm, jobset, lws, skypilot, ray",
                   .values = "slurm jobset lws skypilot ray"),
    [OPTION_FROM_CONFIG] = OPTION_ROW(
        "from-config", "FILE", USE_INFERENCE, .help = "price what this script starts, and say why it is not the best",
        .details = "A script or command line with `vllm serve`, `sglang.launch_server`, `trtllm-serve` or MaxText's "
                   "maxengine_server, and what `emit` writes: its price, the best for the same options, and what one "
                   "change gains. Options that are not given come from the file: lengths and load from its load "
                   "test, of what `emit` wrote all.",
        .values = "@files"),
    SWEEP_OPTION_ROWS,
    [OPTION_QUIET] = OPTION_ROW("quiet", NULL, 0, .heading = "Output", .letter = 'q', .help = "no warnings"),
};
