/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/sha256.h"
#include "base/util.h"
#include "search/options/data_files.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `text` repeated: NIST's examples (FIPS 180-4 with its example values, SHAVS byte vectors), and lengths on both sides
 * of the limit of one padding block, computed by coreutils' sha256sum. */
static const struct {
    const char *name, *text;
    size_t times;
    const char *digest;
} ROWS[] = {
    {"nothing", "", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"two blocks with padding", "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {"a million a", "a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
    {"one byte (SHAVS)", "\xd3", 1, "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1"},
    {"55 bytes: padding fits", "a", 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
    {"56 bytes: it does not", "a", 56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
    {"63 bytes", "a", 63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"},
    {"64 bytes", "a", 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
    {"119 bytes", "a", 119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"},
    {"120 bytes", "a", 120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"},
};

Test(sha256, published_digests) {
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        char hex[SHA256_HEX_SIZE];
        Sha256 hash = sha256_start();
        for (size_t n = 0; n < ROWS[i].times; n++) sha256_add(&hash, ROWS[i].text, strlen(ROWS[i].text));
        sha256_hex(&hash, hex);
        cr_expect_str_eq(hex, ROWS[i].digest, "%s", ROWS[i].name);
    }
}

Test(sha256, how_the_message_is_cut_does_not_matter) {
    char message[300], whole[SHA256_HEX_SIZE];
    for (size_t i = 0; i < sizeof message; i++) message[i] = (char)(i * 37);
    Sha256 one = sha256_start();
    sha256_add(&one, message, sizeof message);
    sha256_hex(&one, whole);
    for (size_t step = 1; step < sizeof message; step++) {
        char hex[SHA256_HEX_SIZE];
        Sha256 hash = sha256_start();
        for (size_t at = 0; at < sizeof message; at += step) {
            sha256_hex(&hash, hex); /* reading the digest leaves the state as it is */
            sha256_add(&hash, message + at, step < sizeof message - at ? step : sizeof message - at);
        }
        sha256_hex(&hash, hex);
        cr_expect_str_eq(hex, whole, "steps of %zu", step);
    }
}

static void shell(const char *command) { cr_assert_eq(system(command), 0, "%s", command); }

static void expect_like_coreutils(const char *folder, char hex[SHA256_HEX_SIZE]) {
    char command[512], expected[SHA256_HEX_SIZE] = "";
    Arena arena = {0};
    Error error = {0};
    snprintf(command, sizeof command,
             "cd '%s' && LC_ALL=C sha256sum cost/optimizers/?*.json cost/profiles/?*.json mesh/catalog/?*.json "
             "models/zoo/?*.json | sha256sum",
             folder);
    FILE *stream = popen(command, "r");
    cr_assert_not_null(stream);
    cr_expect_eq(fscanf(stream, "%64s", expected), 1);
    pclose(stream);
    setenv("SHARDOPT_DATA", folder, 1);
    cr_assert(file_data_sha256(hex, &arena, &error), "%s: %s", error.where, error.text);
    unsetenv("SHARDOPT_DATA");
    cr_expect_str_eq(hex, expected);
    arena_free(&arena);
}

Test(sha256, data_folder) {
    char root[] = "/tmp/shardopt-hash-XXXXXX", command[320], before[SHA256_HEX_SIZE], after[SHA256_HEX_SIZE];
    cr_assert_not_null(mkdtemp(root));
    snprintf(command, sizeof command,
             "cd %s && mkdir -p cost/optimizers cost/profiles mesh/catalog models/zoo && for f in cost/optimizers/o "
             "cost/profiles/b cost/profiles/a mesh/catalog/a-b mesh/catalog/a models/zoo/m; do echo $f > $f.json; "
             "done; echo no > models/zoo/README",
             root);
    shell(command);
    expect_like_coreutils(root, before);
    snprintf(command, sizeof command, "cd %s && echo more >> models/zoo/m.json", root);
    shell(command);
    expect_like_coreutils(root, after);
    cr_expect_str_neq(before, after, "a changed file is another hash");
    snprintf(command, sizeof command, "cd %s && mv models/zoo/m.json models/zoo/n.json", root);
    shell(command);
    expect_like_coreutils(root, before);
    cr_expect_str_neq(before, after, "a changed name too");

    Arena arena = {0};
    Error error = {0};
    snprintf(command, sizeof command, "rm -r %s/mesh", root);
    shell(command);
    setenv("SHARDOPT_DATA", root, 1);
    cr_expect_not(file_data_sha256(before, &arena, &error));
    cr_expect_eq(error.kind, ERROR_IO);
    cr_expect_str_eq(error.where, "SHARDOPT_DATA");
    unsetenv("SHARDOPT_DATA");
    arena_free(&arena);
    snprintf(command, sizeof command, "rm -r %s", root);
    shell(command);
}

/* Files of the data folder are named by their place in it, other files by the user's path; the digest is FIPS 180-2's
 * of "abc". */
Test(sha256, data_file) {
    static const char *const ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    char root[] = "/tmp/shardopt-file-XXXXXX", command[320], path[96];
    Arena arena = {0};
    Error error = {0};
    DataFile file = {0};
    cr_assert_not_null(mkdtemp(root));
    snprintf(command, sizeof command,
             "cd %s && mkdir -p models/zoo && printf abc > models/zoo/a.json && printf abc > models/b.json", root);
    shell(command);
    setenv("SHARDOPT_DATA", root, 1);
    snprintf(path, sizeof path, "%s/models/zoo/a.json", root);
    cr_assert(data_file(path, "models/zoo", &arena, &file, &error), "%s: %s", error.where, error.text);
    cr_expect_str_eq(file.file, "models/zoo/a.json");
    cr_expect_str_eq(file.sha256, ABC);
    snprintf(path, sizeof path, "%s/models/b.json", root);
    cr_assert(data_file(path, "models/zoo", &arena, &file, &error));
    cr_expect_str_eq(file.file, path);
    cr_expect_str_eq(file.sha256, ABC);
    snprintf(path, sizeof path, "%s/models/zoo/c.json", root);
    cr_expect_not(data_file(path, "models/zoo", &arena, &file, &error));
    cr_expect_eq(error.kind, ERROR_IO);
    unsetenv("SHARDOPT_DATA");
    arena_free(&arena);
    snprintf(command, sizeof command, "rm -r %s", root);
    shell(command);
}
