/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A new chip is one data file and no C: two that nobody ever built are put into a catalog of their own, listed, shown,
 * planned and explained. And machines as people ask for them, of the chips that there are. */
#include "base/util.h"
#include "tests/search/cli/shell.h"

#include <criterion/criterion.h>
#include <unistd.h>

typedef struct {
    const char *name, *line;
    int code;
    const char *out, *err; /* what the stream has in it; NULL: nothing at all */
} Row;

static void check_rows(const char *plant, const Row *rows, size_t count) {
    if (access(SHARDOPT_PROGRAM, X_OK) != 0) cr_skip_test("%s is not built", SHARDOPT_PROGRAM);
    char folder[] = "/tmp/shardopt-test-XXXXXX", line[4096];
    cr_assert_not_null(mkdtemp(folder));
    setenv("S", SHARDOPT_SOURCE_DATA, 1);
    setenv("F", SHARDOPT_TEST_DATA "/chips", 1);
    for (size_t i = 0; i < count; i++) {
        snprintf(line, sizeof line, "%s%s", i ? "" : plant, rows[i].line);
        Run result = run(folder, line);
        cr_expect_eq(result.code, rows[i].code, "%s: exit %d; %.300s", rows[i].name, result.code, result.err);
        cr_expect(rows[i].out ? strstr(result.out, rows[i].out) != NULL : result.out[0] == '\0', "%s: stdout is %.900s",
                  rows[i].name, result.out);
        cr_expect(rows[i].err ? strstr(result.err, rows[i].err) != NULL : result.err[0] == '\0', "%s: stderr is %.300s",
                  rows[i].name, result.err);
        free(result.out);
        free(result.err);
    }
    snprintf(line, sizeof line, "rm -rf %s", folder);
    cr_expect_eq(system(line), 0);
}

/* A data folder whose catalog holds the two and nothing else; models and profiles are those there are. */
static const char PLANT[] = "mkdir -p $D/data/mesh/catalog && cp $F/acme-*.json $D/data/mesh/catalog && "
                            "ln -s $S/models $S/cost $D/data/ && ";

#define OWN "SHARDOPT_DATA=$D/data $P "
static const Row NEW[] = {
    {"the catalog lists them", OWN "chips", 0, "2 chips: 2 can be planned with, 0 are listed", NULL},
    {"by name", OWN "chips ACME-T1", 0, "invented: a torus of 8x8 that closes at 8", NULL},
    {"by alias, for scripts", OWN "chips roadrunner --format json", 0, "\"closed_size\": 8", NULL},
    {"its slices", OWN "chips acme-t1", 0, "slices: 3 shapes of 3 sizes", NULL},
    {"its kin's profile", OWN "chips acme-g1", 0, "profile: gpu", NULL},
    {"a plan of a pod", OWN "--model 8b --chip acme-t1 --pods 1 --top 1", 0, "1 pod of Acme T1", NULL},
    {"it closes at 8", OWN "--model 8b --chip acme-t1 --slice 4x8 --top 1 --format json", 0, "\"kind\": \"ring\"",
     NULL},
    {"a slice's name is enough", OWN "--model 8b --slice t1-32 --top 1", 0, "4x8 of Acme T1", NULL},
    {"slices over DCN", OWN "--model 8b --chip acme-t1 --slice 4x8 --slices 2 --top 1", 0, "2 x 4x8 of Acme T1", NULL},
    {"what nobody checked is said", OWN "--model 8b --chip acme-t1 --slice 4x8 --top 1 -v | tr '\\n' ' '", 0,
     "unverified figures (see `shardopt chips`): link latency. ", NULL},
    {"for scripts too", OWN "--model 8b --chip acme-t1 --slice 4x8 --top 1 --format json | tr -d ' \\n'", 0,
     "\"unverified\":[\"hop_seconds\"]", NULL},
    {"explained", OWN "explain --model 8b --chip acme-t1 --slice 4x8 --plan 'fsdp=8 tensor=4'", 0, "tensor=4", NULL},
    {"four with direct links", OWN "--model gpt2 --chip acme-g1 --nodes 1 --top 1 --format json", 0,
     "\"kind\": \"mesh\"", NULL},
    {"which has no network", OWN "--model gpt2 --chip acme-g1 --nodes 2", 2, NULL,
     "shardopt: --chip: acme-g1 cannot be planned in several nodes: the catalog has no scaleout_bytes_per_second"},
    {"a slice it does not offer", OWN "--model 8b --chip acme-t1 --slice 8x16", 2, NULL, "nearest: 8x8"},
    {"the others are not there", OWN "--model 8b --chip v5p", 2, NULL, "there is no chip \"v5p\""},
    {"a slip in the file", "sed -i 's/hop_seconds/hops_seconds/' $D/data/mesh/catalog/acme-gpu.json; " OWN "chips", 2,
     NULL, "shardopt: acme-gpu.json: hops_seconds is not a key of a chip"},
};

Test(new_chip, rows) { check_rows(PLANT, NEW, COUNT_OF(NEW)); }

static const Row MACHINES[] = {
    {"half a node", "$P --model 8b --chip h100 --nodes 2.5", 2, NULL,
     "2.5 is not a whole number of nodes; nearest: 2 or 3"},
    {"less than a node", "$P --model 8b --chip h100 --nodes 0.5", 2, NULL, "nearest: 1\n"},
    {"nine nodes", "$P --model 8b --chip h100 --nodes 9 --top 1 --batch 1Mi", 0, "9 nodes of 8", NULL},
    {"twelve GPUs", "$P --model 8b --chip h100 --chips 12", 2, NULL, "nearest: 8 or 16"},
    {"unequal racks", "$P --model 8b --chip gb200 --chips 76 --top 1 -v --batch 1Mi", 0, "no equal parts of 2 racks",
     NULL},
    {"pods of GPUs", "$P --model 8b --chip mi300x --pods 1", 2, NULL, "give --nodes or --chips"},
    {"a chip without a network", "$P --model 8b --chip v8t", 2, NULL,
     "shardopt: --chip: tpu-v8t is listed, but cannot be planned with: the catalog has no topology"},
    {"a chip without latencies", "$P --model 8b --chip gaudi3 --nodes 1", 2, NULL, "the catalog has no hop_seconds"},
    {"v3 over DCN", "$P --model 8b --slice v3-128 --slices 2", 2, NULL, "tpu-v3 cannot be planned in several slices"},
    {"v3", "$P --model gpt2 --slice v3-128 --top 1", 0, "8x8 of TPU v3", NULL},
    {"16 nodes of AMD", "$P --model 8b --chip mi300x --nodes 16 --top 1 -v | tr '\\n' ' '", 0,
     "profile mi300, software primus", NULL},
    {"software that is asked for",
     "$P --model 8b --chip h100 --nodes 2 --stack torchtitan --top 1 --format json -o $D/s.json && "
     "grep -c '\"stack\": \"torch-fsdp\"' $D/s.json",
     0, "4", NULL},
    {"and comes back", "$P explain --from $D/s.json | tr '\\n' ' '", 0, "profile h100, software torch-fsdp", NULL},
    {"software of a chip", "$P chips v6e", 0, "other software (--stack): maxtext-tpu-2023, mlperf-google", NULL},
    {"Trainium's instances", "$P --model gpt2 --chip trainium1 --slice 4x4 --slices 4 --top 1", 0,
     "4 x 4x4 of Trainium1", NULL},
    {"nodes of Gaudi", "$P --model 8b --chip gaudi2 --nodes 4 --top 1", 0, "4 nodes of 8 Gaudi 2", NULL},
    {"four bits", "$P --model 8b --chip b300 --nodes 1 --precision nvfp4 --top 1 -v | tr '\\n' ' '", 0,
     "fp4 peak FLOP/s", NULL},
    {"HBM2e", "$P --model 8b --chip h100-96g --nodes 8 --top 1 -v | tr '\\n' ' '", 0, "peak FLOP/s", NULL},
    {"a narrow spine", "$P --model 8b --chip h100 --nodes 64 --oversubscription 2 --top 1 -v", 0,
     "oversubscribed 2 to 1", NULL},
    {"as JSON", "$P --model 8b --chip h100 --nodes 64 --oversubscription 2 --top 1 --format json | tee $D/r.json", 0,
     "\"oversubscription\": 2", NULL},
    {"and back", "$P explain --from $D/r.json", 0, "64 nodes of 8", NULL},
    {"a spine of a torus", "$P --model 8b --pods 1 --oversubscription 2", 2, NULL,
     "is of a GPU network, and TPU v5p has none"},
    {"a spine nobody knows", "$P --model 8b --chip mi300x --nodes 4 --oversubscription 2", 2, NULL, "leaf_nodes"},
    {"wider than full", "$P --model 8b --chip h100 --nodes 64 --oversubscription 0.5", 2, NULL, "--oversubscription: "},
    {"a twisted torus", "$P --model 8b --slice 4x4x8 --top 1 -v | tr '\\n' ' '", 0, "4x4x8 is a twisted torus", NULL},
    {"two devices a chip", "$P --model 8b --slice tpu7x-128 --top 1 --format json", 0, "\"devices\": 128", NULL},
    {"one chip, two devices", "$P --model gpt2 --slice tpu7x-2 --top 1 --format json --batch 64Ki", 0, "\"devices\": 2",
     NULL},
};

Test(new_chip, machines) { check_rows("", MACHINES, COUNT_OF(MACHINES)); }
