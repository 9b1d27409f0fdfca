/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines that people type: what they come to, and the one line of error that a wrong one gets. */
#include "base/util.h"
#include "mesh/collective.h"
#include "search/cli/commands.h"
#include "search/cli/planning.h"
#include "tests/sanitizer.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 16 };

static int count_words(const char *const *words) {
    int count = 0;
    while (count < WORDS_MAX && words[count]) count++;
    return count;
}

/* Parses and resolves; the words stand behind the command's name. */
static bool resolve(const char *const *words, Arena *arena, Request *request, Error *error) {
    char *argv[WORDS_MAX + 2] = {"plan"};
    int count = count_words(words);
    for (int i = 0; i < count; i++) argv[i + 1] = (char *)words[i];
    Options options;
    OutputChoice choice;
    return options_parse(count + 1, argv, &COMMAND_PLAN, arena, &options, error) &&
           output_from_options(&options, &choice, error) && request_from_options(&options, arena, request, error);
}

/* llama-3.1-405b trained with 16,777,216 tokens a step in sequences of 8,192 (Llama 3 paper, table 4); gpt2 has 1,024
 * learned positions; a v5p pod is 16x20x28 = 8,960 chips; half of a v5p-1024's 1,024 cores are chips.
 * A batch of 0 is not claimed. */
static const struct {
    const char *name;
    const char *words[WORDS_MAX];
    int64_t sequences, seq, chips;
    double requested;
} GOOD[] = {
    {"defaults of the model", {"--model", "405b", "--pods", "1"}, 2048, 8192, 8960, 16777216},
    {"as one word", {"--model=405b", "--pods=8"}, 2048, 8192, 71680, 16777216},
    {"a batch in tokens",
     {"--model", "405b", "--batch", "4Mi", "--seq", "4096", "--pods", "1"},
     1024,
     4096,
     8960,
     4194304},
    {"rounded down to sequences", {"--model", "405b", "--batch", "1.5M", "--pods", "1"}, 183, 8192, 8960, 1500000},
    {"rounded up: 3.51 sequences", {"--model", "405b", "--batch", "28754", "--pods", "1"}, 4, 8192, 8960, 28754},
    {"half a sequence rounds up", {"--model", "405b", "--batch", "20480", "--pods", "1"}, 3, 8192, 8960, 20480},
    {"one sequence", {"--model", "405b", "--batch", "8Ki", "--pods", "1"}, 1, 8192, 8960, 8192},
    {"a batch in sequences", {"--model", "405b", "--sequences", "100", "--pods", "1"}, 100, 8192, 8960, 819200},
    {"a slice", {"--model", "8b", "--slice", "4x4x8"}, 0, 8192, 128, 0},
    {"a vendor's name brings its chip", {"--model", "8b", "--slice", "v5p-1024"}, 0, 8192, 512, 0},
    {"its chip said too", {"--model", "8b", "--slice", "v6e-16", "--chip", "tpu-v6e"}, 0, 8192, 16, 0},
    {"slices over DCN", {"--model", "8b", "--slice", "v6e-16", "--slices", "4"}, 0, 8192, 64, 0},
    {"one GPU host when nothing is said", {"--model", "8b", "--chip", "h100", "--nodes", "1"}, 0, 8192, 8, 0},
    {"GPU hosts", {"--model", "8b", "--chip", "H100", "--nodes", "16"}, 0, 8192, 128, 0},
    {"hosts of 4", {"--model", "8b", "--chip", "h100", "--nodes", "8", "--gpus-per-node", "4"}, 0, 8192, 32, 0},
    {"hosts of 4 by their chips", {"--model", "8b", "--chip", "h100", "--nodes", "8", "--chips", "32"}, 0, 8192, 32, 0},
    {"chips in hosts of 2", {"--model", "8b", "--chip", "h100", "--chips", "6", "--gpus-per-node", "2"}, 0, 8192, 6, 0},
    {"one host of 4", {"--model", "8b", "--chip", "h100", "--gpus-per-node", "4"}, 0, 8192, 4, 0},
    {"the usual host", {"--model", "8b", "--chip", "h100", "--nodes", "2", "--chips", "16"}, 0, 8192, 16, 0},
    {"a cloud's instances", {"--model", "8b", "--chip", "a3-highgpu-4g", "--nodes", "4"}, 0, 8192, 16, 0},
    {"a chip's hosts", {"--model", "8b", "--chip", "h100:4", "--nodes", "4"}, 0, 8192, 16, 0},
    {"trays of a rack", {"--model", "8b", "--chip", "gb200", "--nodes", "18", "--chips", "72"}, 0, 8192, 72, 0},
    {"racks", {"--model", "8b", "--chip", "gb200", "--nodes", "2", "--chips", "144"}, 0, 8192, 144, 0},
    {"VMs of TPUs", {"--model", "8b", "--chip", "ct5p-hightpu-4t", "--nodes", "4"}, 0, 8192, 16, 0},
};

Test(options, good) {
    for (size_t i = 0; i < COUNT_OF(GOOD); i++) {
        Arena arena = {0};
        Error error = {0};
        Request *request = ARENA_NEW(&arena, Request, 1);
        bool ok = resolve(GOOD[i].words, &arena, request, &error);
        cr_expect(ok, "%s: %s: %s", GOOD[i].name, error.where, error.text);
        cr_expect_eq(request->question.work.seq, GOOD[i].seq, "%s: seq", GOOD[i].name);
        cr_expect_eq(request->question.machine.mesh.chips, GOOD[i].chips, "%s: %lld chips", GOOD[i].name,
                     (long long)request->question.machine.mesh.chips);
        if (GOOD[i].sequences > 0) {
            cr_expect_eq(request->question.work.sequences, GOOD[i].sequences, "%s: %lld", GOOD[i].name,
                         (long long)request->question.work.sequences);
            cr_expect_float_eq(request->requested.batch_tokens, GOOD[i].requested, 0, "%s: batch", GOOD[i].name);
        }
        arena_free(&arena);
    }
}

Test(options, defaults_are_the_contracts) {
    static const char *const WORDS[WORDS_MAX] = {"--model", "405b", "--pods", "1"};
    Arena arena = {0};
    Error error = {0};
    Request *request = ARENA_NEW(&arena, Request, 1);
    cr_assert(resolve(WORDS, &arena, request, &error), "%s", error.text);
    cr_expect_str_eq(request->question.chip.name, "tpu-v5p");
    cr_expect_str_eq(request->requested.machine, "--pods 1");
    cr_expect_float_eq(request->space.max_idle, 0.12, 1e-12);
    cr_expect_float_eq(request->space.batch_tolerance, 0, 0);
    cr_expect_float_eq(request->question.hbm_reserve, 0.1, 1e-12); /* XLA's */
    cr_expect_eq(request->space.padding, PADDING_LAUNCHABLE);
    cr_expect_eq(request->question.objective, OBJECTIVE_TIME);
    cr_expect_eq(request->control.top, 5);
    cr_expect_eq(request->requested.launchers, 1u); /* MaxText, the launcher of TPUs */
    cr_expect_eq(request->subproblem_count, 2);     /* and a free layout as the last resort */
    cr_expect_eq(request->space.roles, (RoleSet)ROLES_DENSE);
    cr_expect_eq(request->requested.batch_origin, FROM_MODEL);
    cr_expect_str_eq(request->question.profile.name, "tpu-v5p");
    cr_expect_eq(request->control.threads, 0);
    arena_free(&arena);
}

Test(options, every_option_is_heard) {
    static const struct {
        const char *words[WORDS_MAX];
        double expected;
    } ROWS[] = {
        {{"--model", "405b", "--max-idle", "0.25", "--pods", "1"}, 0.25},
        {{"--model", "405b", "--batch-tolerance", "10%", "--pods", "1"}, 0.1},
        {{"--model", "405b", "--hbm-reserve", "0", "--pods", "1"}, 0},
        {{"--model", "405b", "--top", "12", "--pods", "1"}, 12},
        {{"--model", "405b", "--tokens", "15T", "--pods", "1"}, 15e12},
        {{"--model", "405b", "--time-limit", "1.5s", "--pods", "1"}, 1.5},
        {{"--model", "405b", "--threads", "3", "--pods", "1"}, 3},
        {{"--model", "405b", "--for", "maxtext,jax", "--pods", "1"}, 3},
        {{"--model", "405b", "--padding", "any", "--pods", "1"}, 2},
        {{"--model", "405b", "--objective", "chip-hours", "--pods", "1"}, 1},
        {{"--model", "405b", "--require", "tensor=4", "--pods", "1"}, 1},
        {{"--model", "405b", "--variants", "--pods", "1"}, 1},
        {{"--model", "405b", "--brute-force", "--pods", "1"}, 1},
        {{"--model", "405b", "--precision", "fp8", "--chip", "h100", "--nodes", "1"}, 1},
        {{"--model", "405b", "--memory-limit", "512M", "--pods", "1"}, 512e6},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Arena arena = {0};
        Error error = {0};
        Request *request = ARENA_NEW(&arena, Request, 1);
        cr_expect(resolve(ROWS[i].words, &arena, request, &error), "%s: %s", ROWS[i].words[2], error.text);
        const double heard[] = {request->space.max_idle,
                                request->space.batch_tolerance,
                                request->question.hbm_reserve,
                                request->control.top,
                                request->question.training_tokens,
                                request->control.time_limit_seconds,
                                request->control.threads,
                                request->requested.launchers,
                                request->space.padding,
                                request->question.objective,
                                request->space.requirement_count,
                                request->control.variants,
                                request->control.brute_force,
                                request->question.precision,
                                (double)request->control.memory_limit_bytes};
        cr_expect_float_eq(heard[i], ROWS[i].expected, 1e-12, "%s: %g", ROWS[i].words[2], heard[i]);
        arena_free(&arena);
    }
}

/* A host's rate over the chips of a host: 8 of h100, 4 of gb200 and v5p. Between 4 nodes each sends 2 x 3/4 of an
 * all_reduce: at 320 Gbps over 8 chips, 5e9 bytes a second, a TB takes 300 s; 10 ms are for latencies
 * and trees. */
Test(options, network) {
    static const struct {
        const char *words[WORDS_MAX];
        double rate;
    } ROWS[] = {
        {{"--model", "8b", "--chip", "h100", "--nodes", "4", "--network", "320Gbps"}, 5e9},
        {{"--model", "8b", "--chip", "gb200", "--nodes", "4", "--network", "320Gbps"}, 10e9},
        {{"--model", "8b", "--slice", "v5p-4x4x4", "--slices", "4", "--network", "4x20GB/s"}, 20e9},
        {{"--model", "8b", "--chip", "h100", "--nodes", "4"}, 50e9},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Arena arena = {0};
        Error error = {0};
        Request *request = ARENA_NEW(&arena, Request, 1);
        cr_assert(resolve(ROWS[i].words, &arena, request, &error), "%s", error.text);
        const Mesh *mesh = &request->question.machine.mesh;
        Footprint between = {{{1, 1}, {1, 1}, {1, 1}, {1, 1}}};
        between.on[mesh->axis_count - 1].factor = 4;
        CollectiveCost cost = collective_cost(COLLECTIVE_ALL_REDUCE, mesh, &between);
        cr_expect_float_eq(collective_seconds(cost, 1, 1e12) - collective_seconds(cost, 1, 0), 1.5e12 / ROWS[i].rate,
                           1e-2, "row %zu", i);
        arena_free(&arena);
    }
}

/* The order of roles: as named, else that of the one launcher that plans are for. */
Test(options, nesting) {
    static const struct {
        const char *words[WORDS_MAX], *name;
        Role innermost;
    } ROWS[] = {
        {{"--model", "405b", "--pods", "1"}, "maxtext", ROLE_EXPERT},
        {{"--model", "405b", "--for", "any", "--pods", "1"}, "default", ROLE_TENSOR},
        {{"--model", "405b", "--nesting", "maxtext", "--pods", "1"}, "maxtext", ROLE_EXPERT},
        {{"--model", "405b", "--for", "maxtext", "--pods", "1"}, "maxtext", ROLE_EXPERT},
        {{"--model", "405b", "--for", "maxtext", "--nesting", "default", "--pods", "1"}, "default", ROLE_TENSOR},
        {{"--model", "405b", "--for", "jax,maxtext", "--pods", "1"}, "maxtext", ROLE_EXPERT}, /* of the first of them */
        {{"--model", "405b", "--for", "maxtext", "--nesting", "all", "--pods", "1"}, "all", ROLE_TENSOR},
        {{"--model", "8b", "--chip", "h100", "--for", "deepspeed", "--nodes", "1"}, "megatron", ROLE_TENSOR},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Arena arena = {0};
        Error error = {0};
        Request *request = ARENA_NEW(&arena, Request, 1);
        cr_assert(resolve(ROWS[i].words, &arena, request, &error), "row %zu: %s", i, error.text);
        cr_expect_str_eq(request->requested.nesting, ROWS[i].name, "row %zu: %s", i, request->requested.nesting);
        cr_expect_eq(request->space.nesting.order[0], ROWS[i].innermost, "row %zu", i);
        arena_free(&arena);
    }
}

/* `line`: what error.where and error.text have in them. */
static const struct {
    const char *name;
    const char *words[WORDS_MAX];
    const char *where, *text;
} BAD[] = {
    {"no model", {"--pods", "8"}, "--model", "missing"},
    {"an unknown model", {"--model", "lama-3.1-405b", "--pods", "1"}, "--model", "llama"},
    {"no value", {"--pods", "1", "--model"}, "--model", "needs a value"},
    {"an empty model", {"--model", "", "--pods", "1"}, "--model", ""},
    {"an unknown option", {"--model", "405b", "--pod", "8", "--pods", "1"}, "--pod", "--pods"},
    {"an unknown letter", {"--model", "405b", "-Z", "--pods", "1"}, "-Z", "not an option"},
    {"a stray word", {"--model", "405b", "8", "--pods", "1"}, "8", "not expected"},
    {"a value on a flag", {"--model", "405b", "--variants=3", "--pods", "1"}, "--variants", ""},
    {"an option twice", {"--model", "405b", "--top", "3", "--top", "3", "--pods", "1"}, "--top", "twice"},
    {"two machines", {"--model", "405b", "--pods", "8", "--chips", "64"}, "--chips", "--pods"},
    {"two batches",
     {"--model", "405b", "--batch", "4Mi", "--sequences", "64", "--pods", "1"},
     "--sequences",
     "--batch"},
    {"slices of nothing", {"--model", "405b", "--chip", "v5p", "--slices", "2"}, "--slices", "--slice"},
    {"no machine", {"--model", "405b"}, "--chip", "--chip h100 --nodes 8 or --slice v5p-128"},
    {"a size of nothing", {"--model", "405b", "--chips", "64"}, "--chip", "is missing"},
    {"no size of GPUs", {"--model", "8b", "--chip", "h100"}, "--chip", "--nodes 1 (a host of 8) or --chips 4"},
    {"no size of racks", {"--model", "8b", "--chip", "gb200"}, "--chip", "--nodes 1 (a rack of 72)"},
    {"no size of TPUs", {"--model", "8b", "--chip", "v5e"}, "--chip", "--chips 32 or --slice v5litepod-32"},
    {"8 GPUs on 3 hosts",
     {"--model", "8b", "--chip", "h100", "--nodes", "3", "--chips", "8"},
     "--nodes",
     "nearest: --nodes 2 or 4, or --chips 6 or 9"},
    {"4 GPUs on 3 hosts",
     {"--model", "8b", "--chip", "h100", "--nodes", "3", "--chips", "4"},
     "--nodes",
     "nearest: --nodes 2 or 4, or --chips 3 or 6"},
    {"fewer GPUs than hosts",
     {"--model", "8b", "--chip", "h100", "--nodes", "5", "--chips", "3"},
     "--nodes",
     "nearest: --nodes 3, or --chips 5"},
    {"a host of 16",
     {"--model", "8b", "--chip", "h100", "--nodes", "2", "--gpus-per-node", "16"},
     "--gpus-per-node",
     "at most 8"},
    {"three that disagree",
     {"--model", "8b", "--chip", "h100", "--nodes", "8", "--chips", "32", "--gpus-per-node", "2"},
     "--chips",
     "32 are not 8 hosts of 2"},
    {"a host of TPUs",
     {"--model", "8b", "--chip", "v5p", "--chips", "64", "--gpus-per-node", "4"},
     "--gpus-per-node",
     "comes in slices"},
    {"chips of no whole host",
     {"--model", "8b", "--chip", "h100", "--chips", "6", "--gpus-per-node", "4"},
     "--chips",
     "hosts of 4; nearest: 4 or 8"},
    {"no memory",
     {"--model", "8b", "--chip", "h100", "--nodes", "1", "--host-memory", "0"},
     "--host-memory",
     "1000000000"},
    {"slices of pods", {"--model", "405b", "--pods", "1", "--slices", "2"}, "--slices", "--slice"},
    {"chips against a slice name", {"--model", "405b", "--slice", "v6e-16", "--chip", "v5p"}, "--chip", "v6e"},
    {"an unknown chip", {"--model", "405b", "--chip", "v5q", "--nodes", "1"}, "--chip", "nearest: v5"},
    {"pods of GPUs", {"--model", "405b", "--chip", "h100", "--pods", "1"}, "--pods", ""},
    {"a slice that is not offered", {"--model", "405b", "--slice", "16x20x30"}, "--slice", "16x20x28"},
    {"no pods", {"--model", "405b", "--pods", "0"}, "--pods", "from 1"},
    {"minus one pod", {"--model", "405b", "--pods", "-1"}, "--pods", "whole number"},
    {"more pods than numbers", {"--model", "405b", "--pods", "99999999999999999999"}, "--pods", "out of range"},
    {"more pods than machines", {"--model", "405b", "--pods", "2000000"}, "--pods", ""},
    {"a zero batch", {"--model", "405b", "--batch", "0", "--pods", "1"}, "--batch", "from 1"},
    {"a batch with a fraction", {"--model", "405b", "--batch", "1.5", "--pods", "1"}, "--batch", "fraction"},
    {"a batch below one sequence",
     {"--model", "405b", "--batch", "8191", "--pods", "1"},
     "--batch",
     "--sequences 8191"},
    {"a batch beyond all", {"--model", "405b", "--batch", "1e16", "--pods", "1"}, "--batch", "out of range"},
    {"a batch times a width beyond 2^62", {"--model", "405b", "--batch", "1e15", "--pods", "1"}, "--batch", "too many"},
    {"no sequences", {"--model", "405b", "--sequences", "0", "--pods", "1"}, "--sequences", "from 1"},
    {"sequences beyond all", {"--model", "405b", "--sequences", "1e14", "--pods", "1"}, "--sequences", "out of range"},
    {"a zero seq", {"--model", "405b", "--seq", "0", "--pods", "1"}, "--seq", "from 1"},
    {"a seq beyond all", {"--model", "405b", "--seq", "1Ti", "--pods", "1"}, "--seq", "out of range"},
    {"a seq beyond learned positions", {"--model", "gpt2", "--seq", "2048", "--slice", "4x4x4"}, "--seq", "1024"},
    {"tokens below none", {"--model", "405b", "--tokens", "0", "--pods", "1"}, "--tokens", "out of range"},
    {"tokens that are no number", {"--model", "405b", "--tokens", "nan", "--pods", "1"}, "--tokens", "not a number"},
    {"a require that is none", {"--model", "405b", "--require", "tq=4", "--pods", "1"}, "--require", "tq"},
    {"experts of a dense model",
     {"--model", "405b", "--require", "expert=4", "--pods", "1"},
     "--require",
     "no experts"},
    {"a launcher that is none", {"--model", "405b", "--for", "maxtex", "--pods", "1"}, "--for", "maxtext"},
    {"a share above all", {"--model", "405b", "--max-idle", "100%", "--pods", "1"}, "--max-idle", "out of range"},
    {"a tolerance above half",
     {"--model", "405b", "--batch-tolerance", "0.6", "--pods", "1"},
     "--batch-tolerance",
     "out of range"},
    {"a padding that is none", {"--model", "405b", "--padding", "some", "--pods", "1"}, "--padding", "launchable"},
    {"an objective that is none",
     {"--model", "405b", "--objective", "money", "--pods", "1"},
     "--objective",
     "chip-hours"},
    {"no nesting",
     {"--model", "405b", "--nesting", "tp-first", "--pods", "1"},
     "--nesting",
     "megatron-pp-dp or torchtitan"},
    {"a state without its dtype",
     {"--model", "405b", "--state-dtypes", "bf16", "--pods", "1"},
     "--state-dtypes",
     "moments="},
    {"a dtype that is none",
     {"--model", "405b", "--state-dtypes", "m=int8", "--pods", "1"},
     "--state-dtypes",
     "fp8, bf16, fp16 or fp32"},
    {"no state at all", {"--model", "405b", "--state-dtypes", " ", "--pods", "1"}, "--state-dtypes", "is empty"},
    {"a state twice", {"--model", "405b", "--state-dtypes", "m=bf16 m=fp32", "--pods", "1"}, "--state-dtypes", "twice"},
    {"both moments and one",
     {"--model", "405b", "--state-dtypes", "moments=bf16,v=fp32", "--pods", "1"},
     "--state-dtypes",
     "is given with m or v"},
    {"fp8 with no master",
     {"--model", "405b", "--state-dtypes", "parameters=fp8 master=none", "--pods", "1"},
     "--state-dtypes",
     "master=fp32"},
    {"an optimizer that is none",
     {"--model", "405b", "--optimizer", "shampoo", "--pods", "1"},
     "--optimizer",
     "adafactor, adamw, "},
    {"an optimizer that is not there",
     {"--model", "405b", "--optimizer", "/nonexistent/o.json", "--pods", "1"},
     "/nonexistent/o.json",
     ""},
    {"a remat policy that is none",
     {"--model", "405b", "--remat", "everything", "--pods", "1"},
     "--remat",
     "save_qkv_proj"},
    {"offloading where no host is known",
     {"--model", "8b", "--chip", "v3", "--slice", "8x8", "--remat", "minimal_offloaded"},
     "--remat",
     "does not"},
    {"offloading that is none",
     {"--model", "8b", "--offload", "some", "--pods", "1"},
     "--offload",
     "none, optimizer, activations"},
    {"offloading to no host",
     {"--model", "8b", "--chip", "v3", "--slice", "8x8", "--offload", "all"},
     "--offload",
     "knows no host memory"},
    {"nothing on the host, and the state there",
     {"--model", "8b", "--chip", "h100", "--offload", "activations", "--require", "offload_optimizer=true", "--nodes",
      "1"},
     "--offload",
     "optimizer's state"},
    {"nothing on the host, and activations there",
     {"--model", "8b", "--chip", "h100", "--offload", "none", "--remat", "minimal_offloaded", "--nodes", "1"},
     "--offload",
     "offloads activations"},
    {"no plans", {"--model", "405b", "--top", "0", "--pods", "1"}, "--top", "from 1"},
    {"too many plans", {"--model", "405b", "--top", "1001", "--pods", "1"}, "--top", "to 1000"},
    {"a precision that the chip has not",
     {"--model", "405b", "--precision", "nvfp4", "--pods", "1"},
     "--precision",
     "tpu-v5p has no nvfp4"},
    {"a stack that is none",
     {"--model", "405b", "--stack", "maxtext-tpv", "--pods", "1"},
     "--stack",
     "did you mean maxtext-tpu"},
    {"no stack", {"--model", "405b", "--stack", "", "--pods", "1"}, "--stack", "is empty"},
    {"a stack of the ideal",
     {"--model", "405b", "--profile", "ideal", "--stack", "maxtext-tpu", "--pods", "1"},
     "--stack",
     "without stacks"},
    {"a network of nothing",
     {"--model", "8b", "--chip", "h100", "--network", "fast", "--nodes", "1"},
     "--network",
     "give 100Gbps"},
    {"a network without a unit",
     {"--model", "8b", "--chip", "h100", "--network", "400", "--nodes", "1"},
     "--network",
     "400Gbps or"},
    {"no network to replace",
     {"--model", "8b", "--chip", "v3", "--slice", "8x8", "--network", "1Tbps"},
     "--network",
     "no network of TPU v3"},
    {"a precision that is none",
     {"--model", "405b", "--precision", "int4", "--pods", "1"},
     "--precision",
     "nvfp4 or int8"},
    {"fp8 where there is none",
     {"--model", "8b", "--precision", "fp8", "--chip", "a100-80g", "--nodes", "1"},
     "--precision",
     "no fp8"},
    {"an unknown profile", {"--model", "405b", "--profile", "idael", "--pods", "1"}, "--profile", "ideal"},
    {"a profile that is not there",
     {"--model", "405b", "--profile", "/nonexistent/p.json", "--pods", "1"},
     "/nonexistent/p.json",
     ""},
    {"all HBM kept back", {"--model", "405b", "--hbm-reserve", "1", "--pods", "1"}, "--hbm-reserve", "out of range"},
    {"no threads", {"--model", "405b", "--threads", "0", "--pods", "1"}, "--threads", "from 1"},
    {"no memory", {"--model", "405b", "--memory-limit", "1M", "--pods", "1"}, "--memory-limit", "out of range"},
    {"no time", {"--model", "405b", "--time-limit", "0", "--pods", "1"}, "--time-limit", "more than zero"},
    {"a format that is none", {"--model", "405b", "--format", "pdf", "--pods", "1"}, "--format", "html"},
    {"a color that is none", {"--model", "405b", "--color", "red", "--pods", "1"}, "--color", "auto"},
    {"loud and quiet", {"--model", "405b", "-v", "-q", "--pods", "1"}, "--verbose", "--quiet"},
    {"an output without a name", {"--model", "405b", "-o", "", "--pods", "1"}, "--output", "empty"},
    {"an option of explain", {"--model", "405b", "--plan", "tensor=4", "--pods", "1"}, "--plan", "not an option"},
};

Test(options, bad) {
    for (size_t i = 0; i < COUNT_OF(BAD); i++) {
        Arena arena = {0};
        Error error = {0};
        Request *request = ARENA_NEW(&arena, Request, 1);
        cr_expect_not(resolve(BAD[i].words, &arena, request, &error), "%s: taken", BAD[i].name);
        cr_expect_eq(exit_of_error(&error), EXIT_USAGE, "%s: exit %d", BAD[i].name, exit_of_error(&error));
        cr_expect(strstr(error.where, BAD[i].where), "%s: where is %s", BAD[i].name, error.where);
        cr_expect(error.text[0] && strstr(error.text, BAD[i].text), "%s: text is %s", BAD[i].name, error.text);
        arena_free(&arena);
    }
}

/* Bytes that nobody means: they end as an error or a request, and as nothing else. */
Test(options, hostile) {
    cr_assert_not_null(freopen("/dev/null", "r", stdin)); /* "-" is what stands there */
    static const char *const VALUES[] = {"",
                                         " ",
                                         "-",
                                         "--",
                                         "=",
                                         "%s%s%n",
                                         "\xff\xfe",
                                         "1e999999999",
                                         "0x10",
                                         "1;2",
                                         "٣",
                                         "-9223372036854775808",
                                         "18446744073709551616",
                                         "1Ki Mi",
                                         "tensor=",
                                         "=4",
                                         "<=",
                                         ",",
                                         "inf",
                                         "1e-400",
                                         "../../etc/passwd"};
    char *long_value = malloc(100001);
    cr_assert_not_null(long_value);
    memset(long_value, '9', 100000);
    long_value[100000] = '\0';
    for (Option option = 0; option < OPTION_COUNT; option++) {
        for (size_t i = (size_t)option % PROBLEMS_SHARE; i <= COUNT_OF(VALUES); i += PROBLEMS_SHARE) {
            Arena arena = {0};
            Error error = {0};
            char word[40];
            cr_assert_not_null(option_name(option), "option %d is in no table", (int)option);
            snprintf(word, sizeof word, "--%s", option_name(option));
            const char *const words[WORDS_MAX] = {"--model", "8b", word, i < COUNT_OF(VALUES) ? VALUES[i] : long_value,
                                                  "--pods",  "1"};
            Request *request = ARENA_NEW(&arena, Request, 1);
            bool ok = resolve(words, &arena, request, &error);
            cr_expect_eq(ok, error.kind == ERROR_NONE, "%s %.20s", word, words[3]);
            for (const char *at = error.text; *at; at++)
                cr_expect((unsigned char)*at >= ' ', "%s: control character", word);
            arena_free(&arena);
        }
    }
    free(long_value);
}

Test(options, help_names_every_option) {
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    help_of_command(&COMMAND_PLAN, memory);
    fclose(memory);
    static const char *const NAMED[] = {
        "--model",    "--pods",        "--slice",           "--slices",      "--chips",       "--nodes",
        "--chip",     "--batch",       "--sequences",       "--seq",         "--tokens",      "--require",
        "--for",      "--max-idle",    "--batch-tolerance", "--padding",     "--objective",   "--top",
        "--variants", "--sensitivity", "--precision",       "--optimizer",   "--hbm-reserve", "--profile",
        "--format",   "-o, --output",  "--threads",         "--brute-force", "--time-limit",  "--memory-limit",
        "--timing",   "-v, --verbose", "-q, --quiet",       "--color",       "--certificate", "--help"};
    for (size_t i = 0; i < COUNT_OF(NAMED); i++) cr_expect(strstr(text, NAMED[i]), "%s", NAMED[i]);
    cr_expect_null(strstr(text, "--plan "), "an option of explain");
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) cr_expect(strlen(line) <= 120, "%s", line);
    free(text);
}
