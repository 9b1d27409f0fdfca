/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/profile/profile_set.h"

#include "base/file.h"
#include "base/json.h"
#include "base/util.h"
#include "mesh/chip_json.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* The smallest set that has every feature: parents, priors of others, a fitted figure, matches. */
static const char SMALL[] =
    "{\n"
    "  \"name\": \"small\",\n"
    "  \"date\": \"2025-01-31\",\n"
    "  \"source\": \"invented \\\"here\\\"\",\n"
    "  \"runs_file\": \"runs.tsv\",\n"
    "  \"runs_sha256\": \"00ff\",\n"
    "  \"runs\": 12,\n"
    "  \"profiles\": {\n"
    "    \"gpu\": {\n"
    "      \"source\": \"all of them\",\n"
    "      \"scaleup\": [\"switch\"],\n"
    "      \"tile_padding\": {\"value\": true,\n"
    "        \"source\": \"so\"},\n"
    "      \"matrix_efficiency\": {\"value\": 0.8, \"prior\": 0.75,\n"
    "        \"source\": \"a\"},\n"
    "      \"fp8_efficiency\": {\"value\": 0.1, \"prior\": 0.9, \"of\": \"gpu.matrix_efficiency\", \"sigma\": 0.2,\n"
    "        \"source\": \"b\"},\n"
    "      \"hbm_efficiency\": {\"value\": 0.9,\n"
    "        \"source\": \"c\"},\n"
    "      \"communicator_bytes\": {\"value\": 6.9e+08,\n"
    "        \"source\": \"c\"}\n"
    "    },\n"
    "    \"big\": {\n"
    "      \"source\": \"one\",\n"
    "      \"title\": \"Big\",\n"
    "      \"kin\": \"gpu\",\n"
    "      \"chips\": [\"big-1\", \"big-2\"],\n"
    "      \"matrix_efficiency\": {\"value\": 0.3333333333333333, \"prior\": 1.1, \"of\": \"gpu\", \"deviation\": "
    "0.02, "
    "\"runs\": 12, \"determined\": true,\n"
    "        \"source\": \"d\"},\n"
    "      \"likely_low\": {\"value\": 0.9,\n"
    "        \"source\": \"e\"},\n"
    "      \"likely_high\": {\"value\": 1.1,\n"
    "        \"source\": \"e\"}\n"
    "    }\n"
    "  },\n"
    "  \"stacks\": {\n"
    "    \"core\": {\n"
    "      \"source\": \"core of it\",\n"
    "      \"aliases\": [\"core-0.9\"],\n"
    "      \"released\": \"2024-07\",\n"
    "      \"scaleup\": [\"torus\", \"switch\"],\n"
    "      \"matches\": [{\"scaleup\": \"switch\"},\n"
    "        {\"framework\": \"Core\", \"from\": \"2\", \"before\": \"3\"}],\n"
    "      \"compute_factor\": {\"value\": 0.95, \"prior\": 1,\n"
    "        \"source\": \"f\"},\n"
    "      \"step_seconds\": {\"value\": 0.02,\n"
    "        \"source\": \"g\"}\n"
    "    },\n"
    "    \"core-next\": {\n"
    "      \"source\": \"core again\",\n"
    "      \"kin\": \"core\",\n"
    "      \"matches\": [{\"framework\": \"Core\", \"notes\": \"new\", \"not_notes\": \"old\", \"chip\": \"big-1, "
    "big-2\"}],\n"
    "      \"compute_factor\": {\"value\": 1.05, \"prior\": 1,\n"
    "        \"source\": \"h\"}\n"
    "    }\n"
    "  }\n"
    "}\n";

static bool set_of(const char *text, Arena *arena, ProfileSet *out, Error *error) {
    cJSON *json = json_parse(text, strlen(text), "s.json", error);
    bool ok = json && profile_set_from_json(json, "s.json", arena, out, error);
    cJSON_Delete(json);
    return ok;
}

static char *written(const ProfileSet *set) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    cr_assert(out && profile_set_write(out, set));
    fclose(out);
    return text;
}

static SetFigure *own(SetEntry *entry, const char *key) {
    for (int i = 0; i < entry->figure_count; i++)
        if (strcmp(entry->figures[i].figure->key, key) == 0) return &entry->figures[i];
    cr_assert_fail("%s has no %s", entry->name, key);
    return NULL;
}

Test(profile_set, reads_back_byte_for_byte) {
    Arena arena = {0};
    Error error = {0};
    ProfileSet set;
    cr_assert(set_of(SMALL, &arena, &set, &error), "%s: %s", error.where, error.text);
    char *text = written(&set);
    cr_expect_str_eq(text, SMALL);
    free(text);
    const char *folder = file_data_folder("cost/profiles", &arena, &error);
    const char *path = arena_format(&arena, "%s/default.json", folder);
    char *file;
    size_t length;
    cr_assert(file_read(path, 1 << 24, &arena, &file, &length, &error) && profile_set_read(path, &arena, &set, &error),
              "%s: %s", error.where, error.text);
    text = written(&set);
    if (getenv("SHARDOPT_UPDATE_GOLDEN")) /* figures that were added by hand move to their places */
        cr_assert(file_write(path, text, strlen(text), &error), "%s: %s", error.where, error.text);
    else
        cr_expect(strcmp(text, file) == 0, "default.json is not as profile_set_write() writes it; "
                                           "SHARDOPT_UPDATE_GOLDEN=1 build-dev/cost_test_profile_set puts it right");
    free(text);
    arena_free(&arena);
}

/* Figures of its own, of the parent, and of nobody; a change of the value in place; a copy of the entries stands for
 * itself. */
Test(profile_set, composes) {
    Arena arena = {0};
    Error error = {0};
    ProfileSet set;
    Profile profile;
    cr_assert(set_of(SMALL, &arena, &set, &error), "%s: %s", error.where, error.text);
    memset(&profile, 0x5a, sizeof profile);
    profile_compose(&set, &set.profiles[1], &set.stacks[1], &profile);
    cr_expect_eq(profile.sequence_seconds, 0); /* nobody's */
    cr_expect_str_eq(profile.name, "big");
    cr_expect_str_eq(profile.stack, "core-next");
    cr_expect_eq(profile.matrix_efficiency, 0.3333333333333333);
    cr_expect_eq(profile.linear_efficiency, 0.3333333333333333);
    cr_expect_eq(profile.fp8_efficiency, 0.1); /* gpu's */
    cr_expect_eq(profile.ici_efficiency, 1);   /* ideal's */
    cr_expect_eq(profile.compute_factor, 1.05);
    cr_expect_eq(profile.step_overhead_seconds, 0.02); /* core's */
    cr_expect_eq(profile.tensor_exposed, 1);           /* ideal's */
    cr_expect_eq(profile.likely_high, 1.1);
    cr_expect(profile.tile_padding);
    SetEntry copy[2] = {set.profiles[0], set.profiles[1]};
    ProfileSet other = set;
    other.profiles = copy;
    own(&copy[0], "hbm_efficiency")->value = 0.5;
    profile_compose(&other, &copy[1], NULL, &profile);
    cr_expect_eq(profile.hbm_efficiency, 0.5);
    cr_expect_eq(profile.compute_factor, 1);
    cr_expect_str_eq(profile.stack, "");
    profile_compose(&set, &set.profiles[1], NULL, &profile);
    cr_expect_eq(profile.hbm_efficiency, 0.9);
    cr_expect_float_eq(set_figure_prior(set.profiles, own(&set.profiles[1], "matrix_efficiency")), 1.1 * 0.8, 1e-15);
    cr_expect_float_eq(set_figure_prior(set.profiles, own(&set.profiles[0], "fp8_efficiency")), 0.9 * 0.8, 1e-15);
    cr_expect_float_eq(set_figure_prior(set.profiles, own(&set.profiles[0], "matrix_efficiency")), 0.75, 1e-15);
    cr_expect_eq(own(&set.profiles[0], "hbm_efficiency")->sigma, 0.0, "no prior: fixed");
    cr_expect_eq(own(&set.profiles[0], "fp8_efficiency")->sigma, 0.2);
    cr_expect_eq(own(&set.profiles[1], "matrix_efficiency")->sigma, profile_figure("matrix_efficiency")->sigma);
    arena_free(&arena);
}

/* A set with one change: `find` becomes `put`; the row has the place and text of the error. */
static const struct {
    const char *name, *find, *put, *where, *text;
} BROKEN[] = {
    {"an unknown key of a set", "\"runs\": 12,\n  \"prof", "\"rows\": 12,\n  \"prof", "s.json", "rows: is no key"},
    {"no name", "\"name\": \"small\"", "\"name\": \"\"", "s.json", "empty"},
    {"no stacks", "\"stacks\"", "\"stack\"", "s.json", "stack: is no key"},
    {"an unknown key of a chip", "\"title\": \"Big\"", "\"titel\": \"Big\"", "s.json:profiles.big", "titel: is no key"},
    {"a figure's name misspelt", "\"likely_low\"", "\"likely_lo\"", "s.json:profiles.big", "likely_lo: is no key"},
    {"an unknown key of a figure", "\"prior\": 0.75", "\"pryor\": 0.75", "s.json:profiles.gpu",
     "matrix_efficiency.pryor: is no key"},
    {"no source of an entry", "\"source\": \"all of them\",", "", "s.json:profiles.gpu", "source"},
    {"no source of a figure", "0.02,\n        \"source\": \"g\"", "0.02", "s.json:stacks.core",
     "step_seconds: has no source"},
    {"an empty source", "\"source\": \"g\"", "\"source\": \"\"", "s.json:stacks.core", "step_seconds: has no source"},
    {"no value", "\"value\": 0.02,", "", "s.json:stacks.core", "step_seconds: has no value"},
    {"a bare number", "{\"value\": 0.02,\n        \"source\": \"g\"}", "0.02", "s.json:stacks.core",
     "step_seconds: is no figure"},
    {"above the peak", "\"value\": 0.8", "\"value\": 1.8", "s.json:profiles.gpu",
     "matrix_efficiency.value: is out of range; give a number from 0.01 to 1"},
    {"text for a number", "\"value\": 0.8", "\"value\": \"0.8\"", "s.json:profiles.gpu", "matrix_efficiency.value"},
    {"a prior of zero", "\"prior\": 0.75", "\"prior\": 0", "s.json:profiles.gpu", "matrix_efficiency.prior"},
    {"a prior above the peak", "\"prior\": 0.75", "\"prior\": 7.5", "s.json:profiles.gpu", "matrix_efficiency.prior"},
    {"a sigma without a prior", "\"prior\": 0.75", "\"sigma\": 0.1", "s.json:profiles.gpu", "no prior"},
    {"a prior of what no fit moves", "{\"value\": 6.9e+08", "{\"value\": 6.9e+08, \"prior\": 6.9e+08",
     "s.json:profiles.gpu", "no fit moves it"},
    {"half a fit", ", \"determined\": true", "", "s.json:profiles.big", "go together"},
    {"a fit without a prior", "\"prior\": 1.1, \"of\": \"gpu\", ", "", "s.json:profiles.big", "was fitted"},
    {"half a run", "\"runs\": 12, \"det", "\"runs\": 1.5, \"det", "s.json:profiles.big", "whole number"},
    {"software's figure of a chip", "\"hbm_efficiency\"", "\"tensor_exposed\"", "s.json:profiles.gpu",
     "tensor_exposed: is software's"},
    {"a chip's figure of software", "\"step_seconds\"", "\"hbm_efficiency\"", "s.json:stacks.core", "is a chip's"},
    {"kin that is not there", "\"kin\": \"gpu\"", "\"kin\": \"gpv\"", "s.json:profiles.big",
     "\"kin\": \"gpv\" is not above it"},
    {"its own kin", "\"kin\": \"gpu\"", "\"kin\": \"big\"", "s.json:profiles.big", "is not above it"},
    {"kin behind its user", "\"aliases\": [\"core-0.9\"]", "\"kin\": \"core-next\"", "s.json:stacks.core",
     "is not above it"},
    {"of a stranger", "\"of\": \"gpu\"", "\"of\": \"gpv\"", "s.json:profiles.big", "matrix_efficiency.of"},
    {"of a figure that nobody gives", "\"of\": \"gpu.matrix_efficiency\"", "\"of\": \"gpu.jitter\"",
     "s.json:profiles.gpu", "fp8_efficiency.of"},
    {"of itself", "\"of\": \"gpu.matrix_efficiency\"", "\"of\": \"gpu\"", "s.json:profiles.gpu", "leads back"},
    {"of each other", "0.75,\n", "0.75, \"of\": \"gpu.fp8_efficiency\",\n", "s.json:profiles.gpu", "leads back"},
    {"a name twice", "\"core-next\": {", "\"Core 0_9\": {", "s.json:stacks.Core 0_9", "that of \"core\""},
    {"a chip twice", "\"scaleup\": [\"switch\"]", "\"chips\": [\"Big_2\"]", "s.json:profiles.big",
     "has the profile \"gpu\""},
    {"chips that are no list", "[\"big-1\", \"big-2\"]", "\"big-1\"", "s.json:profiles.big", "chips: give an array"},
    {"a scale-up that is none", "[\"switch\"]", "[\"mesh\"]", "s.json:profiles.gpu", "scaleup: give"},
    {"half a likely range", "\"likely_high\": {\"value\": 1.1", "\"likely_high\": {\"value\": 0", "s.json:profiles.big",
     "likely_low, likely_high"},
    {"a match without a text", "{\"scaleup\": \"switch\"}", "{}", "s.json:stacks.core", "matches"},
    {"a match of no column", "{\"scaleup\": \"switch\"}", "{\"model\": \"8b\"}", "s.json:stacks.core", "matches.model"},
    {"a release that is none", "\"from\": \"2\"", "\"from\": \"v2\"", "s.json:stacks.core", "26.04"},
    {"matches of a chip", "\"scaleup\": [\"switch\"]", "\"matches\": [{\"framework\": \"x\"}]", "s.json:profiles.gpu",
     "matches: is no key"},
    {"the same key twice", "\"title\": \"Big\"", "\"kin\": \"gpu\"", "s.json:", "given before"},
    {"cut off", "\"core-next\": {", "", "s.json:", ""},
};

Test(profile_set, broken_ones) {
    Arena arena = {0};
    for (size_t i = 0; i < COUNT_OF(BROKEN); i++) {
        const char *at = strstr(SMALL, BROKEN[i].find);
        cr_assert_not_null(at, "%s", BROKEN[i].name);
        char *changed =
            arena_format(&arena, "%.*s%s%s", (int)(at - SMALL), SMALL, BROKEN[i].put, at + strlen(BROKEN[i].find));
        Error error = {0};
        ProfileSet set = {.name = "untouched"};
        cr_expect_not(set_of(changed, &arena, &set, &error), "%s: taken", BROKEN[i].name);
        cr_expect_eq(error.kind, ERROR_INPUT, "%s", BROKEN[i].name);
        size_t length = strlen(BROKEN[i].where);
        cr_expect(strncmp(error.where, BROKEN[i].where, length) == 0 && strstr(error.text, BROKEN[i].text),
                  "%s: %s: %s", BROKEN[i].name, error.where, error.text);
        cr_expect_str_eq(set.name, "untouched", "%s: written half", BROKEN[i].name);
    }
    static const char *const NO_SETS[] = {"[]",
                                          "3",
                                          "null",
                                          "{}",
                                          "{\"profiles\": {}, \"stacks\": {}}",
                                          "{\"name\": \"a\", \"date\": \"\", \"source\": \"b\", \"profiles\": {}}"};
    for (size_t i = 0; i < COUNT_OF(NO_SETS); i++) {
        Error error = {0};
        ProfileSet set;
        cr_expect_not(set_of(NO_SETS[i], &arena, &set, &error), "%s", NO_SETS[i]);
        cr_expect_eq(error.kind, ERROR_INPUT);
    }
    arena_free(&arena);
}

/* More entries than the limit; a file name too long for an error's place. */
Test(profile_set, large_ones) {
    Arena arena = {0};
    Error error = {0};
    ProfileSet set;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fputs("{\"name\": \"a\", \"date\": \"\", \"source\": \"b\", \"profiles\": {", out);
    for (int i = 0; i < 100000; i++) fprintf(out, "%s\"p%d\": {\"source\": \"x\"}", i > 0 ? ", " : "", i);
    fputs("}, \"stacks\": {\"s\": {\"source\": \"y\"}}}", out);
    fclose(out);
    cr_expect_not(set_of(text, &arena, &set, &error));
    cr_expect(strstr(error.text, "1 to 128"), "%s", error.text);
    free(text);
    char where[SET_WHERE_SIZE], name[512];
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    cr_expect_lt(strlen(set_where(name, "profiles", name, where)), sizeof error.where);
    cr_expect(strncmp(where, "...", 3) == 0);
    arena_free(&arena);
}

/* Every chip of the catalog has a profile made for it or its kind, and a best stack made for it or its kind. */
Test(profile_set, every_chip_has_both) {
    Arena arena = {0};
    Error error = {0};
    ProfileSet set;
    Catalog catalog;
    cr_assert(profile_set_default(&arena, &set, &error) && catalog_load(&arena, &catalog, &error), "%s: %s",
              error.where, error.text);
    for (int i = 0; i < catalog.count; i++) {
        const Chip *chip = &catalog.chips[i];
        const SetEntry *profile = profile_set_chip(&set, chip), *stack = profile_set_best_stack(&set, chip);
        if (chip->scaleup == SCALEUP_UNKNOWN) continue;
        cr_assert(profile && stack, "%s", chip->name);
        Profile made;
        profile_compose(&set, profile, stack, &made);
        int count;
        const ProfileFigure *figures = profile_figures(&count);
        for (int f = 0; f < count; f++) {
            double value = figure_value_of(&made, &figures[f]);
            cr_expect(value >= figures[f].low && value <= figures[f].high, "%s, %s", chip->name, figures[f].key);
        }
        cr_expect(made.likely_low > 0 && made.likely_high > 1, "%s", chip->name);
    }
    for (int i = 0; i < set.stack_count; i++)
        cr_expect(profile_set_stack(&set, set.stacks[i].name) == &set.stacks[i], "%s", set.stacks[i].name);
    arena_free(&arena);
}
