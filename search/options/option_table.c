/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of the commands that plan, one row each: how it is typed, what --help and the manual say of it, and what
 * completion proposes. */
#include "base/util.h"
#include "search/options/machine_rows.h"
#include "search/options/options.h"

#include <string.h>

enum {
    ONE = USE_EXPLAIN | USE_EMIT | USE_CHECK,
    BOTH = USE_PLAN | USE_EXPLAIN,
    ALL = USE_ALL_PLANNING,
    RUN = USE_TRACE | USE_BENCH /* a run's plan: its machine, and what its launch file leaves open */
};

const CommandOption PLANNING_OPTIONS[OPTION_COUNT] = {
    [OPTION_BASELINE] = OPTION_ROW(
        "baseline", "FILE", USE_CHECK, .heading = "Regression check",
        .help = "the plans to compare with: a report written by --format json, or an array of them",
        .details = "A report of `plan --format json`, an array of reports, or what `sweep --format json` prints. "
                   "They have the requests; of the options of `plan` only --time-limit is taken, for each plan.",
        .values = "@files"),
    [OPTION_TOLERANCE] = OPTION_ROW(
        "tolerance", "SHARE", USE_CHECK,
        .help = "changes up to this size are ignored: 1%, or step=1%,mfu=1%,memory=5% (default 1%)",
        .details = "Worse by this is as good: 1%, or of some figures, \"step=1%,mfu=1%,memory=5%\" (1%). The step is "
                   "that of as many tokens as were requested, under another objective what that counts; memory is "
                   "the share of usable HBM."),
    [OPTION_UPDATE] = OPTION_ROW(
        "update", NULL, USE_CHECK, .help = "replace the baseline with the plans of this run",
        .details = "Make the plans of now the baseline, in the short form of json.md; what moved is said all the "
                   "same. An entry of nothing but format_version and request becomes a report. What cannot be "
                   "planned is an error, and the file stays as it was."),
    [OPTION_WITHIN] = OPTION_ROW(
        "within", "SHARE", USE_CHECK, .help = "how much slower than the best the plan of --plan or --from may be (5%)",
        .details = "How much slower than the best the plan of --plan, --from or --from-config may be (5%)."),
    [OPTION_MARKDOWN] = OPTION_ROW(
        "markdown", "FILE", USE_CHECK, .help = "also write the answer to this file, as Markdown",
        .details = "Write the answer there too, for the summary of a job and for whoever collects test results.",
        .values = "@files", .writes = true),
    [OPTION_JUNIT] = OPTION_ROW(
        "junit", "FILE", USE_CHECK, .help = "also write the answer to this file, as JUnit XML",
        .details = "Write the answer there too, for the summary of a job and for whoever collects test results.",
        .values = "@files", .writes = true),
    MACHINE_OPTION_ROWS(ALL | RUN),
    [OPTION_BATCH] = INPUT_ROW(
        "batch", "TOKENS", ALL | RUN, .heading = "Work", .help = "tokens of one step (the model's training, else 4Mi)",
        .details = "Tokens of one step, rounded to whole sequences, at least one (the model's training, else 4Mi)."),
    [OPTION_SEQUENCES] =
        INPUT_ROW("sequences", "N", ALL | RUN, .help = "the batch as a number of sequences, instead of --batch"),
    [OPTION_SEQ] = INPUT_ROW(
        "seq", "LEN", ALL | RUN, .help = "tokens of a sequence (the model's training, else 8,192 or its longest)",
        .details = "Tokens of a sequence (the model's training, else the smaller of 8,192 and the model's longest)."),
    [OPTION_TOKENS] =
        INPUT_ROW("tokens", "N", ALL, .help = "tokens of the whole training: 15T (the model's, else 20 per parameter)",
                  .details = "Tokens of the whole training (the model's, else 20 per parameter)."),
    [OPTION_LORA] = INPUT_ROW(
        "lora", "RANK", ALL, .heading = "Fine-tuning",
        .help = "train adapters of this rank alongside frozen weights (16)",
        .details = "Train adapters of this rank (16) alongside frozen weights: LoRA. With any option of fine-tuning "
                   "plans are for TRL with accelerate, sequences have 2,048 tokens and a step at least 16 of them, "
                   "where nobody says otherwise."),
    [OPTION_QLORA] = INPUT_ROW(
        "qlora", "RANK", ALL, .help = "the same with frozen weights in 4 bits: 16, or 16,int8 (nf4 int8 gptq)",
        .details = "The same with frozen matrices of layers quantised, whose gathers are as small; each use writes "
                   "them out in bf16. After the rank, or in its place: nf4 (with double quantisation), nf4-single, "
                   "int8 or gptq."),
    [OPTION_TARGETS] =
        INPUT_ROW("targets", "LIST", ALL,
                  .help = "matrices with adapters: all-linear, attention, mlp or q_proj,v_proj (all-linear)"),
    [OPTION_FREEZE] = INPUT_ROW(
        "freeze", "PARTS", ALL, .help = "frozen parts: vision,embeddings,mlp ... (none; adapters: all)",
        .details = "Some of embeddings, attention, mlp, experts, router, norms, logits, vision (all towers) and "
                   "projector (from towers to the text). Nothing is trained of them, and towers, which come "
                   "first, have no backward."),
    [OPTION_TASK] = INPUT_ROW(
        "task", "TASK", ALL, .help = "sft or dpo (sft)", .values = "sft dpo",
        .details = "sft; or dpo: a sample is a pair of sequences, and a reference goes forward too: the same weights "
                   "with adapters off, or, where all are trained, a copy of them."),
    [OPTION_MEAN_LENGTH] = INPUT_ROW("mean-length", "TOKENS", ALL, .help = "mean tokens of a sample (the longest)"),
    [OPTION_MAX_LENGTH] = INPUT_ROW("max-length", "TOKENS", ALL, .help = "tokens of the longest sample (2,048)"),
    [OPTION_PACKING] = INPUT_ROW(
        "packing", "HOW", ALL, .help = "packed, padded or padding-free (packed with --mean-length, else padded)",
        .details = "packed: samples fill sequences of the longest one's tokens; padded: each sample is computed as "
                   "long as the longest; padding-free: each as long as it is, here the mean.",
        .values = "packed padded padding-free"),
    [OPTION_SAMPLES] = INPUT_ROW("samples", "N", ALL, .help = "samples of the data: 52k (10,000)"),
    [OPTION_EPOCHS] = INPUT_ROW("epochs", "N", ALL, .help = "how often each is seen (1)"),
    [OPTION_LENGTHS] = INPUT_ROW(
        "lengths", "FILE", ALL, .heading = "Fine-tuning",
        .help = "lengths of the samples, one a line, or quantiles (p50 400)",
        .details = "A file of how long samples are: a line has a length and perhaps a weight, or a quantile and a "
                   "length (p50 400). --max-length cuts them; without it the longest is. Packed, unless --packing says "
                   "otherwise; padded to the longest of a microbatch, or padding-free, a step waits for the rank that "
                   "has most."),
    [OPTION_MTBF] =
        INPUT_ROW("mtbf", "TIME", ALL, .heading = "Failures",
                  .help = "mean time between failures of the job, 3h or none (the chip's, over the chips)",
                  .details = "Mean time between failures that stop the whole job: 3h, 40m, or none. By default the "
                             "catalog's hours of one chip over the chips of the plan."),
    [OPTION_RESTART] = INPUT_ROW("restart", "TIME", ALL, .help = "from a failure until steps run again (10 minutes)"),
    [OPTION_STORAGE] = INPUT_ROW("storage", "BYTES", ALL,
                                 .help = "bytes a second that a checkpoint is written at (0.15G a chip, 100G at most)"),
    [OPTION_REQUIRE] = INPUT_ROW(
        "require", "CONDITIONS", ALL, .heading = "Conditions",
        .help = "only plans like \"tensor=4 pipeline<=8\", or --tp 4, --pp, --dp, --fsdp, --cp, --ep, --mbs",
        .details = "Only plans like \"tensor=4 pipeline<=8 schedule=1f1b\": a role, one of = <= >=, and a number, or "
                   "a knob by its name in the JSON report and a setting, with blanks or commas between. Knobs: "
                   "microbatches, microbatch_sequences, schedule, virtual_stages, zero_stage (or zero), "
                   "context_method (context), regather, stages, ulysses, sequence_parameters, tensor_overlap "
                   "(overlap), offload_optimizer, folded_expert (folded: experts on ranks of data, sequence and "
                   "tensor, so many ways) and folded_expert_tensor (expert_tensor). The field's short words work too: "
                   "tp pp dp cp vpp "
                   "mbs, and ep, which is either form of expert parallelism: an axis of experts, or a fold."),
    [OPTION_FOR] = INPUT_ROW(
        "for", "LAUNCHER", ALL,
        .help = "only what these can launch: maxtext, megatron ... or any (the chip's usual ones)",
        .details = "Only what it can launch, placed where it can place it, priced with its own software: maxtext, "
                   "jax, megatron, torchtitan, deepspeed, of fine-tuning trl, axolotl, llama-factory, or several with "
                   "commas, of which the best is the answer. "
                   "Layouts keep, recompute and offload activations only as the launcher can express. The default "
                   "is what is usually run: maxtext on TPUs, megatron, torchtitan and deepspeed on GPUs, trl where a "
                   "model is fine-tuned, and megatron where all its weights are. \"any\" is a "
                   "free layout, which a JAX program of one's own may take; it is the default where an option requests "
                   "for what no launcher does (--padding any, --schedules all, --profile ideal, --nesting), and the "
                   "fallback where no plan of theirs fits.",
        .values = "maxtext torchtitan megatron jax deepspeed trl axolotl llama-factory any"),
    [OPTION_MAX_IDLE] = INPUT_ROW("max-idle", "SHARE", ALL, .help = "the share of chips that may stay unused (12%)"),
    [OPTION_BATCH_TOLERANCE] =
        INPUT_ROW("batch-tolerance", "SHARE", ALL, .help = "the share by which the batch may change (0)"),
    [OPTION_PADDING] = INPUT_ROW("padding", "RULE", ALL, .help = "none, launchable or any (launchable)",
                                 .details = "none, launchable (what some launcher accepts) or any (launchable).",
                                 .values = "none launchable any"),
    [OPTION_SCHEDULES] = INPUT_ROW(
        "schedules", "LIST", ALL,
        .help = "launchable, all, or some of gpipe,1f1b,interleaved,circular,zb_h1,dualpipe (launchable)",
        .details = "Pipeline schedules in the space: launchable (those that some launcher runs: gpipe, 1f1b, "
                   "interleaved, circular), all, or some of gpipe,1f1b,interleaved,circular,zb_h1,dualpipe "
                   "(launchable). No launcher known here runs zb_h1 and dualpipe, so that uneven stages under them "
                   "need `--padding any`.",
        .values = "launchable all gpipe 1f1b interleaved circular zb_h1 dualpipe"),
    [OPTION_NESTING] = INPUT_ROW(
        "nesting", "NAME", ALL,
        .help = "how roles nest: default, maxtext, jax, megatron, megatron-pp-dp, torchtitan; or all",
        .details = "How roles nest on an axis, neighbours first: default (tensor, expert, sequence, fsdp, data, "
                   "pipeline), maxtext, jax, megatron, megatron-pp-dp or torchtitan (default, or the order of the "
                   "one launcher that --for names). With all every order of the roles is searched, and each plan "
                   "says its own; degrees are counted in all orders of their roles above 1, up to 720 times as many "
                   "plans.",
        .values = "default maxtext jax megatron megatron-pp-dp torchtitan all"),
    [OPTION_OBJECTIVE] = INPUT_ROW(
        "objective", "WHAT", ALL, .help = "least time, chip-hours or cost, per requested token (time)",
        .details = "time, chip-hours or cost, each per requested token (time).", .values = "time chip-hours cost"),
    [OPTION_TOP] = INPUT_ROW(
        "top", "K", USE_PLAN, .heading = "Output", .help = "show the K best plans (else up to 5 that differ in kind)",
        .details = "The K best plans, also where they are nearly alike. Without it the report has up to five "
                   "that differ in kind: the best of each launcher, with and without a pipeline, with 15% "
                   "of HBM left free, and, on TPUs, with fsdp and data alone."),
    [OPTION_VARIANTS] =
        INPUT_ROW("variants", NULL, USE_PLAN, .help = "show every placement and knob setting as a plan of its own"),
    [OPTION_SENSITIVITY] = OPTION_ROW(
        "sensitivity", "WHICH", USE_PLAN,
        .help = "extra searches for sensitivities and alternatives: none, rows, fast, all",
        .details =
            "Which searches are made in addition to the plan's, for every format alike: none; those for other kinds of "
            "rows, and what is soon searched where sizes do not divide (rows, the default); those for headroom, other "
            "machines, less memory and what one change would gain as well, where each takes no more work than the "
            "plan's (fast, the default with --verbose); or all. The report says how many were left out.",
        .values = "fast none all rows"),
    [OPTION_PRECISION] = INPUT_ROW("precision", "TYPE", ALL | RUN, .heading = "Physics",
                                   .help = "bf16, fp8, mxfp8, nvfp4 or int8, where the chip has it (bf16)",
                                   .values = "bf16 fp8 mxfp8 nvfp4 int8"),
    [OPTION_OPTIMIZER] =
        INPUT_ROW("optimizer", "NAME", ALL | RUN, .help = "adamw, adafactor, muon, lion, sgd ..., or a file (adamw)",
                  .details = "adamw, adafactor, muon, lion, sophia, came, sgd, sgd-momentum, adamw8bit, lion8bit "
                             "(cost/optimizers; other "
                             "programs' names of them too), or a file (adamw).",
                  .values = "adamw adafactor muon lion sophia came sgd sgd-momentum adamw8bit lion8bit"),
    [OPTION_STATE_DTYPES] = INPUT_ROW(
        "state-dtypes", "TYPES", ALL,
        .help = "like \"parameters=bf16 gradients=fp32 master=fp32 moments=bf16\"",
        .details = "What is kept in which dtype, like \"`parameters=bf16 gradients=fp32 master=fp32 moments=bf16`\": "
                   "parameters (the copy for compute, and what is gathered) fp8, bf16, fp16 or fp32 (bf16); "
                   "gradients bf16, fp16 or fp32 (fp32 when accumulated over microbatches, else bf16); master fp32, "
                   "bf16, fp16 or none (fp32, none where parameters are); moments, or m and v for one of them, fp8, "
                   "bf16, fp16 or fp32 (fp32)."),
    [OPTION_REMAT] = INPUT_ROW(
        "remat", "POLICY", ALL | RUN, .help = "auto, none, full, full:40, save_qkv_proj ..., \"qkv=saved\" (auto)",
        .details = "Which activations every plan saves, recomputes or offloads: auto (the layout decides, by "
                   "layers); none; full; MaxText's minimal, minimal_with_context, save_dot_except_mlp, "
                   "save_dot_except_mlpwi, save_dot_with_context_except_mlp, save_qkv_proj, save_out_proj, "
                   "minimal_offloaded, qkv_proj_offloaded; Megatron's selective, layernorm, mlp, moe_act; any of "
                   "them in some layers of a stage alone (`full:40`); or states by activation (\"`qkv=saved "
                   "context=offloaded`\", the rest recomputed), of attention_input, qkv, context, middle, mlp_input, "
                   "gate_up, product (auto).",
        .values = "auto none full"),
    [OPTION_OFFLOAD] = INPUT_ROW(
        "offload", "WHAT", ALL, .help = "what may go to the host: none, optimizer, activations, all (auto), parameters",
        .details = "What plans may keep in the memory of the host: none, optimizer (its state), activations, or all. "
                   "By itself (auto): all, wherever the catalog knows the host's memory, and of fine-tuning also "
                   "parameters. Of plans within 2% one with nothing on the host is the first. Parameters: "
                   "weights live on the host and come over PCIe for each forward and backward.",
        .values = "auto none optimizer activations all parameters"),
    [OPTION_HBM_RESERVE] =
        INPUT_ROW("hbm-reserve", "SHARE", ALL,
                  .help = "fraction of HBM to keep free (default: enough to fit with 90% probability)",
                  .details = "The share of HBM that no plan may use. By default what the device holds in addition to "
                             "the plan's own bytes and the errors of the memory model on measured runs need, "
                             "so that a plan that fills the rest fits nine times in ten: 14% of an H100 under "
                             "Megatron, 10% of a TPU under MaxText; 8% with --profile ideal."),
    [OPTION_PROFILE] = INPUT_ROW(
        "profile", "NAME", ALL | RUN,
        .help = "ideal, default, a name of cost/profiles, or a file (default: the chip's)",
        .details = "Efficiencies: ideal (peak rates), default (the chip's), a name of cost/profiles, or a file: a "
                   "set of chips and software, or one whole profile (default).",
        .values = "default ideal"),
    [OPTION_STACK] = INPUT_ROW(
        "stack", "NAME", ALL | RUN,
        .help = "the software: megatron-core, torch-fsdp, maxtext-tpu ... (the chip's best current)",
        .details = "The software that the chip runs, of the profile's file: megatron-core, megatron-bridge-26.06, "
                   "torch-fsdp, maxtext-tpu and others. The default is what the launcher runs (--for), and for a "
                   "free layout the best current one known for the chip. as-is (--as-is) is that software as a first "
                   "run has it, on real data and without what tuned recipes switch on, where runs distinguish the two: "
                   "mixtures of experts on racks."),
    [OPTION_BRUTE_FORCE] = INPUT_ROW("brute-force", NULL, USE_PLAN | USE_SWEEP, .heading = "Search",
                                     .help = "evaluate every plan, without cutting any by bounds"),
    [OPTION_TIME_LIMIT] = INPUT_ROW(
        "time-limit", "S", ALL, .help = "stop after this many seconds and report the remaining gap (exit code 4)",
        .details = "Stop after so many seconds (60, 60s, 1.5s) with the best so far and the gap that is left; exit "
                   "code 4."),
    [OPTION_MEMORY_LIMIT] = INPUT_ROW(
        "memory-limit", "SIZE", ALL, .help = "bytes that a search may take (4G); it stops there as at --time-limit",
        .details = "Stop when a search has taken so many bytes (512M, 8G; at least 256M) with the best so far and the "
                   "gap that is left; exit code 4. Near the limit what can be worked out again is not kept, which "
                   "takes longer and changes no answer. A thread counts as 100 MB, and no more threads are begun "
                   "than half of the limit has room for. The default is 4G, or 200M for each thread where that is "
                   "more."),
    [OPTION_GAP] =
        OPTION_ROW("gap", "SHARE", USE_PLAN | USE_SWEEP,
                   .help = "treat the best plan as proven if the remaining gap is at most this (0.5%)",
                   .details = "What a limit may leave open of the first plan for it to count as proven: the exit code "
                              "is 0 then. The default, 0.5%, is what the cost model cannot distinguish."),
    [OPTION_THREADS] = {OPTION_ROW_THREADS, .use = ALL},
    [OPTION_PLAN] = OPTION_ROW(
        "plan", "PLAN", ONE, .heading = "Plan",
        .help = "the plan, such as \"data=2 fsdp=1024 tensor=4 microbatches=8\"",
        .details = "Degrees, and knobs as in the JSON report: \"data=2 fsdp=1024 tensor=4 microbatches=8 zero=1\". "
                   "What is not named is chosen best."),
    [OPTION_PLANS] = OPTION_ROW(
        "plans", "FILE", USE_EXPLAIN, .help = "plans, one a line as of --plan; their figures, one line of JSON each",
        .details = "A file (- is stdin) with a plan on each line, as --plan takes it. Written is a line of JSON for "
                   "each, in the same order: `plan`, as it was given; `step`, `memory` and `launchable_by` as in the "
                   "report, and `notation`; or `error`, why there is none. The request is read once.",
        .values = "@files"),
    [OPTION_FROM] = OPTION_ROW(
        "from", "REPORT", ONE | RUN, .help = "a plan of a report written by --format json",
        .details = "A plan of a report, its knobs and placement with it, that `--format json` wrote; its request is "
                   "taken from there too.",
        .values = "@files"),
    [OPTION_RANK_BY] = INPUT_ROW(
        "rank", "BY", USE_PLAN | USE_SWEEP,
        .help = "practice: risk and what is seldom run cost rank; or time (practice)",
        .details =
            "What comes first: practice (what hardly anybody runs ranks as if it took longer by the model's error "
            "for it, and of plans within 2% that of lowest risk is the first), or time (the fastest step, "
            "whoever runs it).",
        .values = "practice time"),
    [OPTION_RANK] = OPTION_ROW("rank", "N", ONE | RUN, .help = "which plan of --from (1)"),
    [OPTION_FROM_CONFIG] = OPTION_ROW(
        "from-config", "FILE", ONE | RUN,
        .help = "the plan of a launch configuration: MaxText, torchtitan, Megatron, DeepSpeed, JAX",
        .details = "The plan that a launch configuration is: a YAML of MaxText or the command that starts it "
                   "(key=value), a TOML of torchtitan or its flags, a script or the arguments of Megatron-LM, a JSON "
                   "of DeepSpeed, and the module of JAX that `shardopt emit` writes. What it is, its keys say. "
                   "Degrees, knobs, recomputation, batch, sequence length and the model, by its name or its sizes, "
                   "are the file's, with its launcher's defaults; roles lie where that launcher puts them by itself. "
                   "The machine (--chip, --slice or --nodes) and what the file leaves to others come from the "
                   "command line, whose options (--model, --batch, --seq, --remat ...) count before the file. What "
                   "is not understood, and what is priced as something near, is said on standard error, once each; "
                   "what the launcher would refuse (degrees that are not the machine's, sizes that do not divide) is "
                   "an error that names the key, what cannot be read one with file, line and column. Scripts are not "
                   "run: variables, arrays, defaults and sums are put in as far as the file alone says what they "
                   "are. The answer ends with --why-not.",
        .values = "@files"),
    [OPTION_CONFIG_FORMAT] =
        OPTION_ROW("config-format", "NAME", ONE | RUN, .help = "the format of --from-config (recognised by its keys)",
                   .details = "maxtext, jax, torchtitan, megatron or deepspeed, where keys alone do not say it.",
                   .values = "maxtext torchtitan megatron jax deepspeed"),
    [OPTION_UNDER] = OPTION_ROW("under", "SCHEDULER", USE_EMIT,
                                .help = "the script as a job: slurm, jobset, skypilot, ray, rayjob, xpk",
                                .values = "slurm jobset skypilot ray rayjob xpk"),
    [OPTION_WHY_NOT] = OPTION_ROW(
        "why-not", NULL, USE_EXPLAIN,
        .help = "compare with the best plan, and say which change gains most (always with --from-config)",
        .details = "Compare the plan with the best of the same request (of a configuration: what its own launcher "
                   "can launch, unless --for says otherwise): how far behind it is, how many choices of degrees and "
                   "schedule are faster (counted up to ten), which terms of its step are longer, and what a single "
                   "change would gain: one knob, recomputation as the layout chooses it, another placement, or the "
                   "smallest prime factor of one degree moved to another role. Each is a search with all the rest "
                   "required. Of the changes that come within 0.5% of the best, the one that changes least is named, "
                   "else the one that gains most, and from there on the next, one after the other, up to five."),
    [OPTION_READ] =
        OPTION_ROW("read", "FOLDER", USE_BENCH,
                   .help = "read what the benchmarks printed: nccl-tests, nvbandwidth, perftest, matmul sweeps",
                   .details = "Read the logs in this folder: nccl-tests or rccl-tests (all_gather, reduce_scatter, "
                              "all_reduce; named after them, as all_gather.log, or their JSON of -J), nvbandwidth, "
                              "perftest (ib_write_bw: what collectives over the network are not above), and sweeps of "
                              "matmuls that print a median in TFLOPS. With --refit they go into a profile.",
                   .values = "@files"),
    [OPTION_REFIT] = OPTION_ROW(
        "refit", "FILE", RUN, .help = "write the profile moved to what was measured, and say what now wins with it",
        .details = "Write the profile that priced the plan, with the figures that the trace (or the logs of --read) "
                   "determines moved to what was measured, and no others; then price the plan with it, search "
                   "again, and say what now wins. `--profile ./FILE` plans with it.",
        .values = "@files", .writes = true),
    [OPTION_TRACE_FORMAT] =
        OPTION_ROW("format", "FORMAT", USE_TRACE, .help = "how the answer is written: text, json or html (text)",
                   .details = "How the answer is written: text, json, or html, a page that loads nothing, with "
                              "each term and one step in time, measured above predicted.",
                   .values = "text json html"),
    [OPTION_BENCH_FORMAT] = {OPTION_ROW_TEXT_OR_JSON, .use = USE_BENCH},
    SWEEP_OPTION_ROWS,
    [OPTION_DEADLINE] = {OPTION_ROW_DEADLINE, .use = USE_SWEEP, .heading = "Sweep"},
    [OPTION_BUDGET] = {OPTION_ROW_BUDGET, .use = USE_SWEEP},
    [OPTION_CERTIFICATE] = OPTION_ROW(
        "certificate", "FILE", USE_PLAN, .heading = "Output",
        .help = "write the bound or result of every parallelism configuration to FILE, to be checked",
        .details = "Write there, as a table with tabs, what became of every parallelism configuration (dp, tp, pp ...) "
                   "on every machine and batch of the space: placements, knobs, the bound and the reason why it was "
                   "cut, or what was evaluated and cut in it; docs/json.md has the columns. "
                   "share/shardopt/tests/certificate/check.py FILE REPORT.json shardopt --all, installed with the "
                   "program, checks every line. The same file for any number of threads; 24 MB for 405b on 8 pods.",
        .values = "@files", .writes = true),
    [OPTION_FORMAT] = OPTION_ROW(
        "format", "FORMAT", BOTH | USE_SWEEP | USE_CHECK,
        .help = "text, json or markdown; html, csv, brief; of a check junit (text)",
        .details =
            "text, json, markdown (for a pull request), html or csv (text). html is one page that loads "
            "nothing, and runs only its own script, with the plans and, as pictures, where a "
            "step goes, HBM against its "
            "limit, where the roles lie, one step in time, the step against memory and against "
            "chips, time against machine and batch, and how the step and the winner move when each figure of "
            "the chip and of the profile is a tenth lower or higher. The last three rest on up to fifty searches of "
            "their own (around in JSON): as many as take about as long as the plan did with --verbose, and all "
            "with --sensitivity all. No format changes what is computed. "
            "docs/json.md has the columns of csv. brief is JSON too: what a decision needs, in at most 60 "
            "lines.",
        .values = "text json markdown html csv brief junit"),
    [OPTION_WHAT_IF] = {OPTION_ROW_WHAT_IF, .use = USE_PLAN},
    [OPTION_OUTPUT] = {OPTION_ROW_OUTPUT, .use = ALL | RUN},
    [OPTION_TIMING] = OPTION_ROW("timing", NULL, BOTH | USE_EMIT, .help = "print on stderr how long it took",
                                 .details = "Say on standard error how long it took."),
    [OPTION_VERBOSE] =
        OPTION_ROW("verbose", NULL, BOTH | USE_EMIT, .letter = 'v',
                   .help = "the whole report, not a screen of it; of other forms, what is searched (stderr)",
                   .details = "Print the whole text report, where a screen of it is the default: why plan 1 wins, "
                              "what would help, what is assumed, the proof. A text in a file (-o) is always "
                              "whole. With another --format, and of `explain` and `emit`: say on standard error "
                              "what is searched."),
    [OPTION_QUIET] = OPTION_ROW("quiet", NULL, ALL, .letter = 'q', .help = "no warnings"),
    [OPTION_COLOR] = OPTION_ROW(
        "color", "WHEN", BOTH, .help = "auto, always or never (auto)",
        .details = "Colour in text: auto (on a terminal, unless NO_COLOR is set or TERM is dumb), always or never. "
                   "On a terminal text is as wide as it is, and tables leave columns out that it has no room for.",
        .values = "auto always never"),
    [OPTION_VERSION] = OPTION_ROW("version", NULL, ALL, .help = "print the version"),
};

const char *option_name(Option option) {
    const CommandOption *const tables[] = {PLANNING_OPTIONS, SERVING_OPTIONS, RL_OPTIONS, PROGRAM_OPTIONS};
    const char *name = NULL;
    for (size_t i = 0; i < COUNT_OF(tables) && !name; i++) name = tables[i][option].name;
    return name;
}

int option_named(const CommandOption *table, const char *name) {
    for (int i = 0; i < OPTION_COUNT; i++)
        if (table[i].name && (strcmp(table[i].name, name) == 0 || (table[i].key && strcmp(table[i].key, name) == 0)))
            return i;
    return -1;
}

bool option_is_input(Option option) { return PLANNING_OPTIONS[option].is_input; }
