/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The line that an annotation points at: counted by hand in each text. */
#include "base/util.h"
#include "search/launch/import.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct {
    const char *name, *file, *text;
    Role role;
    int64_t line;
} ROWS[] = {
    {"megatron: tensor", "a.sh",
     "torchrun pretrain_gpt.py \\\n  --expert-tensor-parallel-size 4 \\\n  --tensor-model-parallel-size 8\n",
     ROLE_TENSOR, 3},
    {"megatron: pipeline, not its virtual stages", "a.sh",
     "TP=8\ntorchrun pretrain_gpt.py \\\n --virtual-pipeline-model-parallel-size 2 \\\n --pipeline-model-parallel-size "
     "4\n",
     ROLE_PIPELINE, 4},
    {"megatron: context", "a.sh", "torchrun pretrain_gpt.py \\\n  --context-parallel-size 2\n", ROLE_SEQUENCE, 2},
    {"megatron: the first and the second of an array", "a.sh",
     "P=(\n  --tensor-model-parallel-size 8\n  --pipeline-model-parallel-size 4\n)\ntorchrun pretrain_gpt.py "
     "\"${P[@]}\"\n",
     ROLE_TENSOR, 2},
    {"megatron: what is left is data", "a.sh", "torchrun pretrain_gpt.py --tensor-model-parallel-size 8\n", ROLE_DATA,
     0},
    {"maxtext: fsdp", "b.yml", "steps: 10\nici_tensor_parallelism: 4\nici_fsdp_parallelism: -1\n", ROLE_FSDP, 3},
    {"maxtext: the one of two that says something", "b.yml",
     "dcn_fsdp_parallelism: 1\nper_device_batch_size: 1\nici_fsdp_parallelism: 16\n", ROLE_FSDP, 3},
    {"maxtext: both say 1", "b.yml", "steps: 10\nici_tensor_parallelism: 1\ndcn_tensor_parallelism: 1\n", ROLE_TENSOR,
     2},
    {"torchtitan: shards", "c.toml",
     "[model]\nname = \"llama3\"\n\n[parallelism]\ndata_parallel_replicate_degree = 2\ndata_parallel_shard_degree = "
     "-1\n",
     ROLE_FSDP, 6},
    {"torchtitan: replicas", "c.toml",
     "[model]\nname = \"llama3\"\n\n[parallelism]\ndata_parallel_shard_degree = -1\ndata_parallel_replicate_degree = "
     "2\n",
     ROLE_DATA, 6},
    {"torchtitan: a switch is no degree", "c.toml",
     "[model]\nname = \"llama3\"\n[parallelism]\nenable_async_tensor_parallel = true\ntensor_parallel_degree = 8\n",
     ROLE_TENSOR, 5},
};

Test(role_key, line) {
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Arena arena = {0};
        Error error = {0};
        ConfigFile file = {0};
        int launcher;
        cr_assert(import_read(ROWS[i].file, ROWS[i].text, strlen(ROWS[i].text), NULL, &arena, &file, &launcher, &error),
                  "%s: %s: %s", ROWS[i].name, error.where, error.text);
        int64_t line = role_key_line(&file, ROWS[i].role);
        cr_expect(line == ROWS[i].line, "%s: line %d", ROWS[i].name, (int)line);
        arena_free(&arena);
    }
}

Test(role_key, the_farthest_that_has_a_line) {
    Degrees have = {{[ROLE_TENSOR] = 8, 1, 1, 1, 16, 4}}, want = {{[ROLE_TENSOR] = 4, 1, 1, 4, 32, 1}};
    int64_t all[ROLE_COUNT] = {10, 11, 12, 13, 14, 15}, some[ROLE_COUNT] = {10, 0, 0, 0, 0, 0}, none[ROLE_COUNT] = {0};
    cr_expect(role_to_change(&have, &want, all) == ROLE_FSDP); /* 1 to 4 as far as pipeline's 4 to 1, and before it */
    cr_expect(role_to_change(&have, &want, some) == ROLE_TENSOR);
    cr_expect(role_to_change(&have, &want, none) == ROLE_COUNT);
    cr_expect(role_to_change(&want, &want, all) == ROLE_COUNT);
}
