/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of `shardopt rl`, one row each. */
#include "search/options/machine_rows.h"

const CommandOption RL_OPTIONS[OPTION_COUNT] = {
    MACHINE_OPTION_ROWS(0),
    [OPTION_SAMPLES] = INPUT_ROW("samples", "N", 0, .heading = "Step", .help = "answers to each prompt (16)"),
    [OPTION_PROMPT] = INPUT_ROW("prompt", "TOKENS", 0, .help = "tokens of a prompt (256)"),
    [OPTION_ANSWER] =
        INPUT_ROW("answer", "TOKENS", 0, .help = "mean tokens of an answer (1,024, of --max-answer at most a quarter)"),
    [OPTION_LENGTHS] = INPUT_ROW(
        "lengths", "FILE", 0, .help = "lengths of answers, one a line, or quantiles (p50 400), for --answer",
        .details = "A file of how long answers are, in place of --answer: a line has a length and perhaps a weight, or "
                   "a quantile and a length (p50 400). --max-answer cuts them.",
        .values = "@files"),
    [OPTION_MAX_ANSWER] = INPUT_ROW(
        "max-answer", "TOKENS", 0, .help = "tokens at which an answer is cut (four times the mean)",
        .details = "Tokens at which an answer is cut (four times the mean). Lengths are lognormal, cut there, with the "
                   "mean of --answer, unless --lengths has them."),
    [OPTION_TURNS] = INPUT_ROW("turns", "N", 0, .help = "turns of an answer in mean, a tool runs between two (1)"),
    [OPTION_TOOL_TIME] = INPUT_ROW(
        "tool-time", "SECONDS|FILE", 0, .help = "what a call takes in mean, or a file of milliseconds like --lengths",
        .details =
            "What a tool takes between two turns: seconds in mean, lognormal, or a file like that of --lengths "
            "with milliseconds. An answer that waits keeps its cache; one of twice the tokens calls twice as often."),
    [OPTION_PROMPTS] = INPUT_ROW("prompts", "N", 0, .help = "prompts of a step (64)"),
    [OPTION_ALGORITHM] =
        INPUT_ROW("algorithm", "NAME", 0, .help = "grpo, dapo, ppo, rloo, reinforce++ or distillation (grpo)",
                  .values = "grpo dapo ppo rloo reinforce++ distillation"),
    [OPTION_TEACHER] =
        INPUT_ROW("teacher", "MODEL", 0, .help = "the model that distillation learns from", .values = "@models"),
    [OPTION_CRITIC] =
        INPUT_ROW("critic", "MODEL", 0, .help = "the value model of PPO (as large as the policy)", .values = "@models"),
    [OPTION_REWARD] = INPUT_ROW("reward", "MODEL", 0, .help = "a model that scores the answers, if not rules do",
                                .values = "@models"),
    [OPTION_REWARD_ON] = INPUT_ROW("reward-on", "POOL", 0, .help = "where it runs: trainer or rollout (trainer)",
                                   .values = "trainer rollout"),
    [OPTION_LOGPROBS] = INPUT_ROW(
        "logprobs", "POOL", 0, .help = "of the policy, by the trainer, or those that rollout returns (trainer)",
        .details = "Log-probabilities of the policy before the update: a pass of the trainer, or those that the "
                   "engines return as they generate (verl's bypass_mode; NeMo RL's force_on_policy_ratio, which needs "
                   "one update a step).",
        .values = "trainer rollout"),
    [OPTION_TRAIN_BATCH] =
        INPUT_ROW("train-batch", "N", 0, .help = "answers of one update of the weights (all of a step)"),
    [OPTION_KEPT] = INPUT_ROW(
        "kept", "SHARE", 0, .help = "the share of answers that are trained on (1)",
        .details = "The share of answers that are trained on (1): DAPO generates more groups, and throws away those "
                   "whose answers are all right or all wrong."),
    [OPTION_LORA] = INPUT_ROW(
        "lora", "RANK", 0, .help = "train adapters of this rank alongside frozen weights (16)",
        .details = "Train adapters of this rank (16) alongside frozen weights, by TRL's plans: the reference is the "
                   "model with adapters off, adapters alone are sent to the engines, which serve them with the base."),
    [OPTION_TARGETS] =
        INPUT_ROW("targets", "LIST", 0,
                  .help = "matrices with adapters: all-linear, attention, mlp or q_proj,v_proj (all-linear)"),
    [OPTION_FOR] =
        INPUT_ROW("for", "LAUNCHER", 0, .help = "who trains: megatron, torchtitan (FSDP2) or deepspeed (megatron)",
                  .values = "megatron torchtitan deepspeed"),
    [OPTION_ENGINE] = INPUT_ROW("engine", "NAME", 0, .help = "who generates: vllm, sglang or tensorrt-llm (vllm)",
                                .values = "vllm sglang tensorrt-llm"),
    [OPTION_LAG] = INPUT_ROW(
        "lag", "STEPS", 0, .heading = "Conditions",
        .help = "updates that weights may be behind when an answer begins, 0 to 8 (1)",
        .details = "How many updates the weights that generate may be behind those that are trained (1): 0 is on "
                   "policy; 1 lets a split generate the next step's answers while it trains; 8 at most."),
    [OPTION_PARTIAL] = INPUT_ROW(
        "partial", "WHEN", 0, .help = "answers that are not done go on with new weights: auto, yes or no (auto)",
        .details =
            "Partial rollouts (in-flight weight updates): answers in flight stop as weights come, and go on with "
            "the new ones after their cache is filled again; no step waits for its longest. With --lag 1 or "
            "more both are tried; yes or no: only this.",
        .values = "auto yes no"),
    [OPTION_COLOCATED] = INPUT_ROW("colocated", NULL, 0, .help = "only with training and generation on the same chips"),
    [OPTION_TRAIN_NODES] = INPUT_ROW(
        "train-nodes", "K", 0, .help = "only with so many hosts that train, and the others generate",
        .details = "Only with so many hosts that train, and the others generate; of one host, so many chips."),
    [OPTION_TRAIN_PLAN] = INPUT_ROW("train-plan", "PLAN", 0, .help = "only this plan: \"tensor=4 pipeline=4\""),
    [OPTION_ROLLOUT_CHIP] = INPUT_ROW("rollout-chip", "NAME", 0,
                                      .help = "rollout has hosts of this chip, all others train", .values = "@chips"),
    [OPTION_ROLLOUT_NODES] = INPUT_ROW("rollout-nodes", "N", 0, .help = "the hosts of --rollout-chip (1)"),
    [OPTION_ROLLOUT] = INPUT_ROW("rollout", "CONDITIONS", 0, .help = "only engines like \"tensor=4\""),
    [OPTION_ROLLOUT_MEMORY] = INPUT_ROW("rollout-memory", "SHARE", 0,
                                        .help = "of HBM that engines take (80% where they share chips, else 90%)"),
    [OPTION_OBJECTIVE] = INPUT_ROW("objective", "WHAT", 0, .help = "least time of a step, most tokens an hour, or cost",
                                   .details = "What is best: seconds of a step, tokens trained an hour, or dollars per "
                                              "step with every chip paid for (time).",
                                   .values = "time tokens cost"),
    [OPTION_PRECISION] = INPUT_ROW("precision", "TYPE", 0, .heading = "Physics",
                                   .help = "of training: bf16, fp8 or mxfp8 (bf16)", .values = "bf16 fp8 mxfp8"),
    [OPTION_ROLLOUT_PRECISION] =
        INPUT_ROW("rollout-precision", "TYPE", 0, .help = "of weights that generate (bf16)", .values = "bf16 fp8"),
    [OPTION_REMAT] = INPUT_ROW("remat", "POLICY", 0, .help = "what training recomputes: auto, none, full (auto)"),
    [OPTION_MTBF] = INPUT_ROW("mtbf", "DURATION", 0, .help = "a failure of the whole machine once in 5d, 12h: goodput"),
    [OPTION_RESTART] = INPUT_ROW("restart", "DURATION", 0, .help = "from a failure until steps run again (10m)"),
    [OPTION_KV_DTYPE] =
        INPUT_ROW("kv-dtype", "TYPE", 0, .help = "of the cache: bf16 or fp8 (bf16)", .values = "bf16 fp8"),
    [OPTION_BRUTE_FORCE] =
        OPTION_ROW("brute-force", NULL, USE_RL, .heading = "Output", .help = "search every split, to check the bounds"),
    [OPTION_FRONT] = OPTION_ROW("front", NULL, USE_RL,
                                .help = "print on stderr the best step for each lag, and for fewer and more hosts"),
    [OPTION_EMIT] = OPTION_ROW(
        "emit", "FRAMEWORK", USE_RL, .help = "write the best step as a file of nemo-rl, verl, openrlhf, slime or trl",
        .details = "Write the best step in place of the answer as what a framework starts with: YAML of NeMo RL and "
                   "TRL, a script of verl, OpenRLHF and slime.",
        .values = "nemo-rl verl openrlhf slime trl"),
    [OPTION_FROM_CONFIG] = OPTION_ROW(
        "from-config", "FILE", USE_RL, .help = "price what this file of such a framework runs, and what changes gain",
        .details = "A file of NeMo RL, verl, OpenRLHF, slime or TRL: its split, plan, engine, lengths and lag are "
                   "priced, and next to them the best with one of them free, and with all. Options count first; the "
                   "mean of the answers is in no file: give --answer.",
        .values = "@files"),
    [OPTION_FORMAT] = OPTION_ROW(
        "format", "FORMAT", 0, .heading = "Output",
        .help = "text, json, html or brief (60 lines of JSON); of sweeps also csv, markdown (text)",
        .details = "text, json, html, or brief: JSON of at most 60 lines (text); of `sweep rl` text, json, csv "
                   "or markdown.",
        .values = "text json html brief csv markdown"),
    SWEEP_OPTION_ROWS,
    [OPTION_WHAT_IF] = {OPTION_ROW_WHAT_IF, .use = USE_RL, .heading = "Output"},
    [OPTION_OUTPUT] = {OPTION_ROW_OUTPUT},
    [OPTION_TIMING] = OPTION_ROW("timing", NULL, USE_RL, .help = "print on stderr how long it took"),
    [OPTION_VERBOSE] = OPTION_ROW("verbose", NULL, USE_RL, .letter = 'v',
                                  .help = "say what became of every split: a line of the certificate for each"),
    [OPTION_QUIET] = OPTION_ROW("quiet", NULL, 0, .heading = "Output", .letter = 'q', .help = "no warnings"),
};
