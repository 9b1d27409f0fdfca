/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whose configuration a file is, and what it is written in, by what its first lines look like. */
#include "base/util.h"
#include "search/launch/import.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define MEGATRON "--tensor-model-parallel-size 4"

static const struct {
    const char *name, *text, *launcher, *key, *value; /* launcher NULL: it is refused */
} ROWS[] = {
    {"YAML", "ici_fsdp_parallelism: 4\n", "maxtext", "ici_fsdp_parallelism", "4"},
    {"YAML behind blank lines and comments", "\n  \n# a: b\nper_device_batch_size: 2\n", "maxtext",
     "per_device_batch_size", "2"},
    {"YAML behind its mark", "---\nremat_policy: full\n", "maxtext", "remat_policy", "full"},
    {"YAML behind its mark and a comment", "--- # mine\nremat_policy: full\n", "maxtext", "remat_policy", "full"},
    {"YAML with a key in quotes", "\"remat_policy\": full\n", "maxtext", "remat_policy", "full"},
    {"JSON", "{\"train_batch_size\": 8}", "deepspeed", "train_batch_size", "8"},
    {"JSON in objects", "\n {\"zero_optimization\": {\"stage\": 3}}", "deepspeed", "zero_optimization.stage", "3"},
    {"TOML", "[training]\nseq_len = 8192\n", "torchtitan", "training.seq_len", "8192"},
    {"TOML without a table in front", "training.seq_len = 8192\n", "torchtitan", "training.seq_len", "8192"},
    {"a script", "#!/bin/bash\npython x.py " MEGATRON "\n", "megatron", "tensor-model-parallel-size", "4"},
    {"a script behind a comment", "# mine\npython x.py " MEGATRON "\n", "megatron", "tensor-model-parallel-size", "4"},
    {"options alone", MEGATRON, "megatron", "tensor-model-parallel-size", "4"},
    {"a script that begins with a variable", "TP=4\npython x.py --tensor-model-parallel-size $TP\n", "megatron",
     "tensor-model-parallel-size", "4"},
    {"a script that tests something first", "[ -n \"$X\" ] || exit\npython x.py " MEGATRON "\n", "megatron",
     "tensor-model-parallel-size", "4"},
    {"a module", "import jax\nMESH_AXES = {'fsdp': 64}\n", "jax", "MESH_AXES", "{'fsdp': 64}"},
    {"MaxText's words on a command line", "python -m MaxText.train run.yml ici_fsdp_parallelism=4\n", "maxtext",
     "ici_fsdp_parallelism", "4"},
    {"signs of two: Megatron's yield", "python x.py --training.seq_len 8192 --micro-batch-size 1\n", "torchtitan",
     "training.seq_len", "8192"},
    {"a sign is a whole key", "python x.py --num-layers-per-stage 4\n", NULL, NULL, NULL},
    {"the beginning of one has to be there whole", "ici: 4\ndcn: 2\n", NULL, NULL, NULL},
    {"nothing", "\n\n", NULL, NULL, NULL},
    {"a comment alone", "# nothing", NULL, NULL, NULL},
};

Test(recognise, files) {
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Arena arena = {0};
        ConfigFile file;
        Error error = {0};
        int launcher = -1;
        bool ok = import_read("f", ROWS[i].text, strlen(ROWS[i].text), NULL, &arena, &file, &launcher, &error);
        cr_expect_eq(ok, ROWS[i].launcher != NULL, "%s: %s", ROWS[i].name, error.text);
        if (ok && ROWS[i].launcher) {
            cr_expect_str_eq(launcher_name(launcher), ROWS[i].launcher, "%s: %s", ROWS[i].name,
                             launcher_name(launcher));
            const ConfigEntry *entry = config_take(&file, ROWS[i].key);
            cr_expect_str_eq(entry ? entry->value : "none", ROWS[i].value, "%s", ROWS[i].name);
        }
        arena_free(&arena);
    }
}

/* What is said beats what it looks like; a name that no launcher has is refused. */
Test(recognise, said) {
    Arena arena = {0};
    ConfigFile file;
    Error error = {0};
    int launcher;
    cr_assert(import_read("f", MEGATRON, strlen(MEGATRON), "torchtitan", &arena, &file, &launcher, &error));
    cr_expect_str_eq(launcher_name(launcher), "torchtitan");
    cr_expect_not(import_read("f", MEGATRON, strlen(MEGATRON), "nobody", &arena, &file, &launcher, &error));
    cr_expect_str_eq(error.where, "--config-format");
    arena_free(&arena);
}

/* ---- which model a file means by its sizes ---- */

/* 80 layers of 8192, 64 heads of which 8 of keys, 28672 wide, 128256 words, sequences of 131072. */
static Model llama(void) {
    Model model = {.layers = 80, .d_model = 8192, .vocab = 128256, .max_seq = 131072, .kind_count = 1};
    model.kinds[0] = (LayerKind){.count = 80, .heads = 64, .kv_heads = 8, .head_dim = 128, .d_ff = 28672};
    return model;
}

Test(recognise, sizes) {
    const ImportedSizes all = {80, 8192, 64, 8, 28672, 0, 128256, 131072}, least = {.layers = 80, .d_model = 8192};
    static const struct {
        size_t at;
        int64_t value;
        int match;
    } ROWS_OF_SIZES[] = {
        {offsetof(ImportedSizes, layers), 81, 0},    {offsetof(ImportedSizes, d_model), 8193, 0},
        {offsetof(ImportedSizes, heads), 63, 0},     {offsetof(ImportedSizes, kv_heads), 9, 0},
        {offsetof(ImportedSizes, d_ff), 28673, 0},   {offsetof(ImportedSizes, experts), 8, 0},
        {offsetof(ImportedSizes, vocab), 128257, 2}, {offsetof(ImportedSizes, vocab), 128256 + 4096, 2},
        {offsetof(ImportedSizes, vocab), 132353, 0}, {offsetof(ImportedSizes, vocab), 128256 - 4096, 2},
        {offsetof(ImportedSizes, vocab), 124159, 0}, {offsetof(ImportedSizes, max_seq), 8192, 3},
        {offsetof(ImportedSizes, heads), 0, 4},      {offsetof(ImportedSizes, kv_heads), 0, 4},
        {offsetof(ImportedSizes, d_ff), 0, 4},       {offsetof(ImportedSizes, vocab), 0, 2},
        {offsetof(ImportedSizes, vocab), 128256, 4},
    };
    Model model = llama();
    cr_expect_eq(import_sizes_match(&all, &model), 4);
    cr_expect_eq(import_sizes_match(&least, &model), 1);
    cr_expect(import_sizes_known(&least));
    cr_expect_not(import_sizes_known(&(ImportedSizes){.layers = 80}));
    cr_expect_not(import_sizes_known(&(ImportedSizes){.d_model = 80}));
    for (size_t i = 0; i < COUNT_OF(ROWS_OF_SIZES); i++) {
        ImportedSizes sizes = all;
        *(int64_t *)((char *)&sizes + ROWS_OF_SIZES[i].at) = ROWS_OF_SIZES[i].value;
        cr_expect_eq(import_sizes_match(&sizes, &model), ROWS_OF_SIZES[i].match, "%zu: %d", i,
                     import_sizes_match(&sizes, &model));
    }
}

/* A mixture has its experts said, and may say their width. */
Test(recognise, sizes_of_a_mixture) {
    Model model = llama();
    model.kinds[0].experts = 8, model.kinds[0].d_ff_expert = 14336, model.kinds[0].d_ff = 0;
    ImportedSizes sizes = {80, 8192, 64, 8, 14336, 8, 128256, 131072};
    cr_expect_eq(import_sizes_match(&sizes, &model), 4);
    sizes.experts = 16;
    cr_expect_eq(import_sizes_match(&sizes, &model), 0);
    sizes.experts = 0;
    cr_expect_eq(import_sizes_match(&sizes, &model), 0);
}
