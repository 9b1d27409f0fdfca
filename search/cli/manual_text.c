/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/manual_text.h"

#include <stddef.h>

const char *const MANUAL_OPTIONS =
    "Numbers take k M G T (powers of ten) and Ki Mi Gi Ti (powers of two); shares also take %. An option is given "
    "once. In parentheses: the default, which the report states too.";

const char *const MANUAL_MACHINE =
    "At most one of --pods, --slice, --chips and --nodes; without any, one pod, or one node of GPUs.";

const ManualSection MANUAL_BEFORE[] = {
    {"DESCRIPTION", NULL,
     "Given a model, a machine and a batch, `shardopt` prints the plans that train it fastest, what each step costs, "
     "what bounds it and how much memory it takes, and proves that no plan it left out is better: every "
     "factorization of the machine into the roles data, fsdp, sequence, tensor, expert and pipeline, with every "
     "setting of the knobs, is evaluated or cut by a bound that is below its cost.\nThe result goes to standard "
     "output alone; warnings go to standard error. The same input gives the same bytes, for any number of threads; "
     "only --time-limit may change that."},
    {NULL, NULL, NULL},
};

const ManualSection MANUAL_AFTER[] = {
    {"REPORT", NULL,
     "Degrees above 1, then the schedule, v chunks a stage and m microbatches. expert=64(folded) are experts on "
     "ranks of data, sequence and tensor. A likely range is where nine of ten measured steps of that chip would lie, "
     "by runs that the fit of its profile had not seen; the two bounds beside it have all communication hidden, and "
     "none. What the keys of `--format json` mean is in json.md, beside this page in the sources and in "
     "PREFIX/share/doc/shardopt."},
    {"EXIT STATUS", "`0`", "Done."},
    {"EXIT STATUS", "`1`",
     "A gate failed: a limit of `validate` does not hold, `check` found something worse, or `diff --exit-code` a "
     "difference."},
    {"EXIT STATUS", "`2`", "The usage or the input is wrong: one line on standard error, nothing on standard output."},
    {"EXIT STATUS", "`3`", "No plan fits; the report says how far off. Of a sweep: at no point."},
    {"EXIT STATUS", "`4`",
     "A limit ended the search before the proof; the report has the best so far and its gap. Of a sweep: at some "
     "point. It is 0 else, whatever single points came to; of a part it is 0 or 4."},
    {"EXIT STATUS", "`70`", "A defect of the program, or memory is out."},
    {"EXIT STATUS", "`130`", "Interrupted. `plan`, `explain` and `layout` print the best so far with its gap."},
    {"ENVIRONMENT", "`SHARDOPT_DATA`",
     "The folder that holds models/zoo, mesh/catalog, cost/profiles and cost/optimizers; when it is set, data are "
     "looked for only there."},
    {"ENVIRONMENT", "`GITHUB_ACTIONS`",
     "Where it is set, `check` writes annotations to standard error too: at most ten errors, and ten notices of what "
     "is better."},
    {"ENVIRONMENT", "`OMP_NUM_THREADS`", "Threads to use where --threads is not given."},
    {"FILES", "PREFIX/share/shardopt/models/zoo/*.json",
     "Models: a Hugging Face config.json each, with an object \"shardopt\" for names, sources and training defaults. "
     "With \"model_type\": \"shardopt\" a file describes its layers itself, by kind: count, heads, kv_heads, "
     "head_dim, window, d_ff, experts, top_k, d_ff_expert, d_ff_shared and so on."},
    {"FILES", "PREFIX/share/shardopt/mesh/catalog/*.json", "Chips: every figure with its unit and source."},
    {"FILES", "PREFIX/share/shardopt/cost/measured/data/*.tsv",
     "Measured runs, published by others: one run a line, columns by name, tab-separated; README.md beside says how. "
     "flagged.tsv: which of them are odd."},
    {"FILES", "PREFIX/share/shardopt/cost/profiles/*.json",
     "Profiles: which share of these figures a machine and its software reach."},
    {"FILES", "PREFIX/share/shardopt/cost/optimizers/*.json",
     "Optimizers: which moments they keep of which parameters, and whether updates are made orthogonal."},
    {"FILES", NULL,
     "They are looked for beside the program (../share/shardopt from its folder), then in the source folder it was "
     "built from, then where it was to be installed. New files need no recompilation."},
    {NULL, NULL, NULL},
};

const ManualExample MANUAL_EXAMPLES[] = {
    {"The worked problem of eight TPU v5p pods:", "shardopt --model 405b --pods 8\n"},
    {"GPUs, with another batch, only what Megatron can launch:",
     "shardopt --model 70b --chip h100 --nodes 64 --batch 4Mi --seq 8192 --for megatron\n"},
    {"A report for scripts, and then one of its plans in full; a configuration of MaxText, and that read back:",
     "shardopt --model mixtral-8x22b --chip v5e --slice 16x16 --format json -o report.json\n"
     "shardopt explain --from report.json --rank 2\n"
     "shardopt emit maxtext --model 8b --chip v5e --slice 16x16 --batch 1Mi -o run.yml\n"
     "shardopt explain --from-config run.yml --chip v5e --slice 16x16\n"},
    {"The best plan that MaxText can launch, and one that is named, for JAX:",
     "shardopt emit maxtext --model 8b --chip v5e --slice 4x4 --batch 256Ki -o plan.yml\n"
     "shardopt emit jax --model 8b --chip v5e --slice 4x4 --batch 256Ki --plan fsdp=16 -o plan.py\n"},
    {NULL, NULL},
};

const ManualSection MANUAL_END[] = {
    {"COPYING", NULL, "GPL-3.0-or-later. Linking the library binds a program to it, because GLPK is inside."},
    {NULL, NULL, NULL},
};
