/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of `shardopt rl`, one row each. */
#include "search/options/machine_rows.h"

const CommandOption RL_OPTIONS[OPTION_COUNT] = {
    MACHINE_OPTION_ROWS(0),
    [OPTION_SAMPLES] = INPUT_ROW("samples", "N", 0, .heading = "Step", .help = "answers to each prompt (16)"),
    [OPTION_PROMPT] = INPUT_ROW("prompt", "TOKENS", 0, .help = "tokens of a prompt (256)"),
    [OPTION_ANSWER] = INPUT_ROW("answer", "TOKENS", 0, .help = "mean tokens of an answer (1,024)"),
    [OPTION_LENGTHS] = INPUT_ROW(
        "lengths", "FILE", 0, .help = "lengths of answers, one a line, or quantiles (p50 400), for --answer",
        .details = "A file of how long answers are, in place of --answer: a line has a length and perhaps a weight, or "
                   "a quantile and a length (p50 400). --max-answer cuts them.",
        .values = "@files"),
    [OPTION_MAX_ANSWER] = INPUT_ROW(
        "max-answer", "TOKENS", 0, .help = "tokens at which an answer is cut (four times the mean)",
        .details = "Tokens at which an answer is cut (four times the mean). Lengths are lognormal, cut there, with the "
                   "mean of --answer, unless --lengths has them."),
    [OPTION_PROMPTS] = INPUT_ROW("prompts", "N", 0, .help = "prompts of a step (64)"),
    [OPTION_ALGORITHM] =
        INPUT_ROW("algorithm", "NAME", 0, .help = "grpo, dapo, ppo, rloo, reinforce++ or distillation (grpo)",
                  .values = "grpo dapo ppo rloo reinforce++ distillation"),
    [OPTION_TEACHER] =
        INPUT_ROW("teacher", "MODEL", 0, .help = "the model that distillation learns from", .values = "@models"),
    [OPTION_CRITIC] =
        INPUT_ROW("critic", "MODEL", 0, .help = "the value model of PPO (as large as the policy)", .values = "@models"),
    [OPTION_TRAIN_BATCH] =
        INPUT_ROW("train-batch", "N", 0, .help = "answers of one update of the weights (all of a step)"),
    [OPTION_KEPT] = INPUT_ROW(
        "kept", "SHARE", 0, .help = "the share of answers that are trained on (1)",
        .details = "The share of answers that are trained on (1): DAPO generates more groups, and throws away those "
                   "whose answers are all right or all wrong."),
    [OPTION_FOR] =
        INPUT_ROW("for", "LAUNCHER", 0, .help = "who trains: megatron, torchtitan (FSDP2) or deepspeed (megatron)",
                  .values = "megatron torchtitan deepspeed"),
    [OPTION_ENGINE] = INPUT_ROW("engine", "NAME", 0, .help = "who generates: vllm, sglang or tensorrt-llm (vllm)",
                                .values = "vllm sglang tensorrt-llm"),
    [OPTION_LAG] = INPUT_ROW(
        "lag", "STEPS", 0, .heading = "Space",
        .help = "updates that weights may be behind when an answer begins, 0 to 8 (1)",
        .details = "How many updates the weights that generate may be behind those that are trained (1): 0 is on "
                   "policy; 1 lets a split generate the next step's answers while it trains; 8 at most."),
    [OPTION_COLOCATED] = INPUT_ROW("colocated", NULL, 0, .help = "only with training and generation on the same chips"),
    [OPTION_TRAIN_NODES] = INPUT_ROW(
        "train-nodes", "K", 0, .help = "only with so many hosts that train, and the others generate",
        .details = "Only with so many hosts that train, and the others generate; of one host, so many chips."),
    [OPTION_TRAIN_PLAN] = INPUT_ROW("train-plan", "PLAN", 0, .help = "only this plan: \"tensor=4 pipeline=4\""),
    [OPTION_ROLLOUT] = INPUT_ROW("rollout", "CONDITIONS", 0, .help = "only engines like \"tensor=4\""),
    [OPTION_OBJECTIVE] = INPUT_ROW("objective", "WHAT", 0, .help = "least time of a step, most tokens an hour, or cost",
                                   .details = "What is best: seconds of a step, tokens trained an hour, or dollars per "
                                              "step with every chip paid for (time).",
                                   .values = "time tokens cost"),
    [OPTION_PRECISION] = INPUT_ROW("precision", "TYPE", 0, .heading = "Physics",
                                   .help = "of training: bf16, fp8 or mxfp8 (bf16)", .values = "bf16 fp8 mxfp8"),
    [OPTION_ROLLOUT_PRECISION] =
        INPUT_ROW("rollout-precision", "TYPE", 0, .help = "of weights that generate (bf16)", .values = "bf16 fp8"),
    [OPTION_KV_DTYPE] =
        INPUT_ROW("kv-dtype", "TYPE", 0, .help = "of the cache: bf16 or fp8 (bf16)", .values = "bf16 fp8"),
    [OPTION_BRUTE_FORCE] = OPTION_ROW("brute-force", NULL, USE_RL, .heading = "Search and output",
                                      .help = "search every split, to check the bounds"),
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
    [OPTION_FORMAT] = OPTION_ROW("format", "FORMAT", USE_RL, .help = "text or json (text)", .values = "text json"),
    [OPTION_OUTPUT] = {OPTION_ROW_OUTPUT},
    [OPTION_TIMING] = OPTION_ROW("timing", NULL, USE_RL, .help = "print on stderr how long it took"),
    [OPTION_VERBOSE] = OPTION_ROW("verbose", NULL, USE_RL, .letter = 'v',
                                  .help = "say what became of every split: a line of the certificate for each"),
    [OPTION_QUIET] = OPTION_ROW("quiet", NULL, 0, .letter = 'q', .help = "no warnings"),
};
