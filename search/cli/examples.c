/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/examples.h"

#include "base/util.h"

#include <string.h>

/* In an order in which they can be run: files that one reads, another before it has written. mine.tsv is a table of
 * runs of one's own, graph.json a graph of the contest. */
static const struct {
    const char *command, *line;
} EXAMPLES[] = {
    {"plan", "shardopt --model 405b --pods 8"},
    {"plan", "shardopt --model 70b --chip h100 --nodes 64 --batch 4Mi --seq 8192 --for megatron"},
    {"plan", "shardopt --model 8b --chip v5e --slice 4x4 --batch 256Ki --format json -o report.json"},
    {"plan", "shardopt --model 8b --chip v6e --chips 64 --batch 1Mi --require \"tensor<=4 pipeline=1\" --top 3"},
    {"explain", "shardopt explain --from report.json --rank 2"},
    {"explain", "shardopt explain --model 70b --slice 16x16x32 --batch 4Mi --seq 4096 --plan \"fsdp=1024 sequence=2 "
                "tensor=4 microbatches=1\""},
    {"emit", "shardopt emit maxtext --from report.json -o run.yml"},
    {"emit", "shardopt emit jax --from report.json --rank 1 -o plan.py"},
    {"models", "shardopt models"},
    {"models", "shardopt models deepseek-v3"},
    {"chips", "shardopt chips v5p"},
    {"chips", "shardopt chips --format json"},
    {"validate", "shardopt validate cost/measured/data/train.tsv"},
    {"validate", "shardopt validate cost/measured/data/train.tsv --max-error p90=100% -v"},
    {"calibrate", "shardopt calibrate mine.tsv -o mine.json"},
    {"check", "shardopt check --baseline report.json --tolerance 1%"},
    {"check", "shardopt check --model 8b --chip v5e --slice 4x4 --batch 256Ki --plan fsdp=16 --within 5%"},
    {"diff", "shardopt --model 8b --chip v5e --slice 4x4 --batch 512Ki --format json -o other.json"},
    {"diff", "shardopt diff report.json other.json"},
    {"layout", "shardopt layout graph.json --solution choice.json"},
    {"sweep", "shardopt sweep --model 8b --chip v5e,v6e --chips 16,64 --batch 1Mi"},
    {"sweep", "shardopt sweep --model 8b --chip v5e,v6e --chips 16,64 --batch 1Mi --shard 1/2 -o part.1"},
    {"sweep", "shardopt sweep --model 8b --chip v5e,v6e --chips 16,64 --batch 1Mi --shard 2/2 -o part.2"},
    {"merge", "shardopt merge part.1 part.2"},
};

void examples_write(const char *command, FILE *out) {
    bool any = false;
    for (size_t i = 0; i < COUNT_OF(EXAMPLES); i++) {
        if (strcmp(EXAMPLES[i].command, command) != 0) continue;
        if (!any) fputs("\nExamples:\n", out);
        fprintf(out, "  %s\n", EXAMPLES[i].line);
        any = true;
    }
}

bool words_ask_help(int argc, char **argv) {
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return true;
    return false;
}
