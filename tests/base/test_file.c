/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/file.h"
#include "base/util.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Each test works in a folder of its own, which is removed here; `rm` is simpler than a tree walk of ours. */
typedef struct {
    char root[64];
    Arena arena;
} Place;

static Place place_new(void) {
    Place place = {.root = "/tmp/shardopt-test-XXXXXX"};
    cr_assert_not_null(mkdtemp(place.root));
    return place;
}

static const char *in(Place *place, const char *name) {
    return arena_format(&place->arena, "%s/%s", place->root, name);
}

static void place_end(Place *place) {
    char *command = arena_format(&place->arena, "rm -r '%s'", place->root);
    cr_expect_eq(system(command), 0);
    arena_free(&place->arena);
}

static void expect_content(Place *place, const char *name, const char *expected) {
    char *text;
    size_t length;
    Error error = {0};
    cr_assert(file_read(in(place, name), 1 << 20, &place->arena, &text, &length, &error), "%s", error.text);
    cr_expect_str_eq(text, expected, "%s", name);
    cr_expect_eq(length, strlen(expected), "%s", name);
}

static size_t entries(Place *place, const char *folder) {
    char *command = arena_format(&place->arena, "ls -A '%s' | wc -l", in(place, folder));
    FILE *stream = popen(command, "r");
    unsigned long count = 999;
    cr_expect_eq(fscanf(stream, "%lu", &count), 1);
    pclose(stream);
    return count;
}

/* A stream becomes the file when it is kept, and leaves no trace when it is not. */
Test(file, streams_are_kept_or_not_there) {
    Place place = place_new();
    Error error = {0};
    for (int keep = 0; keep < 2; keep++) {
        cr_assert(file_write(in(&place, "c.tsv"), "old\n", 4, &error), "%s", error.text);
        FileStream *stream = file_stream_open(in(&place, "c.tsv"), &error);
        cr_assert(stream, "%s", error.text);
        for (int i = 0; i < 20000; i++) fprintf(file_stream_out(stream), "%d\n", i % 10);
        expect_content(&place, "c.tsv", "old\n");
        cr_expect_eq(file_stream_close(stream, keep == 1, &error), keep == 1, "%s", error.text);
        if (keep == 0) expect_content(&place, "c.tsv", "old\n");
        cr_expect_eq(entries(&place, ""), 1, "something is left beside it");
    }
    char *text;
    size_t length;
    cr_assert(file_read(in(&place, "c.tsv"), 1 << 20, &place.arena, &text, &length, &error), "%s", error.text);
    cr_expect_eq(length, 40000);
    cr_expect(strncmp(text, "0\n1\n2\n", 6) == 0);
    cr_expect_null(file_stream_open(in(&place, "no/c.tsv"), &error));
    cr_expect_eq(error.kind, ERROR_IO);
    place_end(&place);
}

Test(file, what_is_written_is_read) {
    Place place = place_new();
    Error error = {0};
    cr_expect(file_write(in(&place, "plan.json"), "{}\n", 3, &error), "%s", error.text);
    expect_content(&place, "plan.json", "{}\n");
    cr_expect(file_write(in(&place, "plan.json"), "", 0, &error), "%s", error.text);
    expect_content(&place, "plan.json", "");
    char *text;
    size_t length;
    cr_expect(file_write(in(&place, "nul"), "a\0b", 3, &error));
    cr_expect(file_read(in(&place, "nul"), 3, &place.arena, &text, &length, &error), "exactly the limit");
    cr_expect(length == 3 && memcmp(text, "a\0b", 4) == 0);
    cr_expect_not(file_read(in(&place, "nul"), 2, &place.arena, &text, &length, &error), "one over the limit");
    cr_expect_eq(error.kind, ERROR_IO);
    cr_expect_eq(entries(&place, "."), 2, "nothing temporary is left");
    place_end(&place);
}

Test(file, modes_and_links_survive) {
    Place place = place_new();
    Error error = {0};
    struct stat status;
    umask(027);
    cr_expect(file_write(in(&place, "new"), "1", 1, &error));
    stat(in(&place, "new"), &status);
    cr_expect_eq(status.st_mode & 0777, 0640, "the umask decides");
    chmod(in(&place, "new"), 0604);
    cr_expect(file_write(in(&place, "new"), "2", 1, &error));
    stat(in(&place, "new"), &status);
    cr_expect_eq(status.st_mode & 0777, 0604, "the old file decides");
    cr_assert_eq(symlink("new", in(&place, "link")), 0);
    cr_expect(file_write(in(&place, "link"), "3", 1, &error));
    lstat(in(&place, "link"), &status);
    cr_expect(S_ISLNK(status.st_mode));
    expect_content(&place, "new", "3");
    place_end(&place);
}

/* What is written through a link that leads to nothing yet lands where it leads; the link stays one. */
Test(file, links_to_nothing_yet) {
    Place place = place_new();
    Error error = {0};
    struct stat status;
    mkdir(in(&place, "folder"), 0777);
    cr_assert_eq(symlink("folder/new", in(&place, "link")), 0);
    cr_assert_eq(symlink(in(&place, "link"), in(&place, "second")), 0);
    cr_assert_eq(symlink("circle", in(&place, "circle")), 0);
    cr_expect(file_write(in(&place, "second"), "x", 1, &error), "%s", error.text);
    expect_content(&place, "folder/new", "x");
    cr_expect(lstat(in(&place, "link"), &status) == 0 && S_ISLNK(status.st_mode));
    cr_expect(lstat(in(&place, "second"), &status) == 0 && S_ISLNK(status.st_mode));
    cr_expect_not(file_write(in(&place, "circle"), "x", 1, &error));
    place_end(&place);
}

Test(file, same_file_by_any_name) {
    Place place = place_new();
    Error error = {0};
    mkdir(in(&place, "folder"), 0777);
    cr_assert(file_write(in(&place, "a"), "1", 1, &error) && file_write(in(&place, "b"), "1", 1, &error));
    cr_assert_eq(link(in(&place, "a"), in(&place, "hard")), 0);
    cr_assert_eq(symlink("a", in(&place, "soft")), 0);
    cr_assert_eq(symlink("gone", in(&place, "dangling")), 0);
    const struct {
        const char *a, *b;
        bool same;
    } ROWS[] = {{"a", "a", true},
                {"a", "./a", true},
                {"a", "folder/../a", true},
                {"a", "hard", true},
                {"a", "soft", true},
                {"a", "b", false},
                {"a", "gone", false},
                {"gone", "./gone", true},
                {"gone", "dangling", true},
                {"gone", "folder/gone", false},
                {"gone", "folder/../gone", true},
                {"no/gone", "no/gone", false}};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++)
        cr_expect_eq(file_same(in(&place, ROWS[i].a), in(&place, ROWS[i].b)), ROWS[i].same, "%s %s", ROWS[i].a,
                     ROWS[i].b);
    cr_expect_not(file_same("/dev/null", "/dev/null"), "nothing is lost in a device");
    place_end(&place);
}

/* A handler of signals can take away what is not yet renamed, and nothing else. */
Test(file, nothing_is_left_by_who_ends) {
    Place place = place_new();
    Error error = {0};
    cr_assert(file_write(in(&place, "kept"), "1", 1, &error));
    FileStream *stream = file_stream_open(in(&place, "c.tsv"), &error);
    cr_assert(stream, "%s", error.text);
    cr_expect_eq(entries(&place, ""), 2);
    file_leave_nothing();
    cr_expect_eq(entries(&place, ""), 1);
    file_stream_close(stream, false, &error);
    cr_assert(file_write(in(&place, "kept"), "2", 1, &error));
    file_leave_nothing();
    expect_content(&place, "kept", "2");
    place_end(&place);
}

Test(file, refusals_name_the_path) {
    Place place = place_new();
    char *text, long_name[5000];
    size_t length;
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    mkdir(in(&place, "folder"), 0777);
    mkfifo(in(&place, "pipe"), 0666);
    const char *unreadable[] = {
        in(&place, "absent"), in(&place, "folder"), in(&place, "pipe"), "/dev/null", "", long_name};
    for (size_t i = 0; i < COUNT_OF(unreadable); i++) {
        Error error = {0};
        cr_expect_not(file_read(unreadable[i], 100, &place.arena, &text, &length, &error), "%s", unreadable[i]);
        cr_expect_eq(error.kind, ERROR_IO);
        cr_expect_eq(strncmp(error.where, unreadable[i], 100), 0, "%s", error.where);
    }
    const char *unwritable[] = {
        in(&place, "folder"), in(&place, "absent/x"), in(&place, "folder/"), in(&place, "new/"), "", long_name};
    for (size_t i = 0; i < COUNT_OF(unwritable); i++) {
        Error error = {0};
        cr_expect_not(file_write(unwritable[i], "x", 1, &error), "%s", unwritable[i]);
        cr_expect_eq(error.kind, ERROR_IO, "%s", unwritable[i]);
    }
    cr_expect_eq(entries(&place, "."), 2, "nothing temporary is left");
    cr_expect_eq(entries(&place, "folder"), 0, "nothing temporary is left");
    place_end(&place);
}

Test(file, streams_are_written_directly) {
    Error error = {0};
    struct stat status;
    cr_expect(file_write("/dev/null", "x", 1, &error), "%s", error.text);
    stat("/dev/null", &status);
    cr_expect(S_ISCHR(status.st_mode));
    cr_expect_not(file_write("/dev/full", "x", 1, &error));
    cr_expect_str_eq(error.where, "/dev/full");
    int ends[2];
    char path[64], got = 0;
    cr_assert_eq(pipe(ends), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    cr_expect(file_write(path, "x", 1, &error), "%s", error.text);
    cr_expect(read(ends[0], &got, 1) == 1 && got == 'x');
}

Test(file, list) {
    Place place = place_new();
    Error error = {0};
    char **names = NULL;
    size_t count = 99;
    cr_expect(file_list(place.root, ".json", &place.arena, &names, &count, &error) && count == 0, "an empty folder");
    static const char *const FILES[] = {"v5p.json",     "h100.json", "B200.json", ".json",
                                        ".hidden.json", "readme.md", "json"};
    for (size_t i = 0; i < COUNT_OF(FILES); i++) cr_assert(file_write(in(&place, FILES[i]), "", 0, &error));
    mkdir(in(&place, "folder.json"), 0777);
    cr_expect(file_list(place.root, ".json", &place.arena, &names, &count, &error), "%s", error.text);
    static const char *const EXPECTED[] = {"B200.json", "h100.json", "v5p.json"};
    cr_assert_eq(count, COUNT_OF(EXPECTED));
    for (size_t i = 0; i < count; i++) cr_expect_str_eq(names[i], EXPECTED[i]);
    for (int i = 0; i < 300; i++)
        cr_assert(fclose(fopen(arena_format(&place.arena, "%s/%03d.tsv", place.root, i), "w")) == 0);
    cr_assert(file_list(place.root, ".tsv", &place.arena, &names, &count, &error));
    cr_assert_eq(count, 300, "more than the first piece of the list");
    cr_expect_str_eq(names[0], "000.tsv");
    cr_expect_str_eq(names[299], "299.tsv");
    cr_expect_not(file_list(in(&place, "absent"), "", &place.arena, &names, &count, &error));
    cr_expect_eq(error.kind, ERROR_IO);
    place_end(&place);
}

Test(file, data_folder_that_was_asked_for_is_the_only_one) {
    Place place = place_new();
    Error error = {0};
    mkdir(in(&place, "zoo"), 0777);
    setenv("SHARDOPT_DATA", place.root, 1);
    cr_expect_str_eq(file_data_folder("zoo", &place.arena, &error), in(&place, "zoo"));
    cr_expect_null(file_data_folder("mesh", &place.arena, &error));
    cr_expect_str_eq(error.where, "SHARDOPT_DATA");
    place_end(&place);
}

/* The next test runs this from an installed place: it prints the folder that it finds there. As a test of its own it
 * does nothing. */
Test(file, probe) {
    const char *report = getenv("SHARDOPT_PROBE");
    if (!report) return;
    Arena arena = {0};
    Error error = {0};
    const char *folder = file_data_folder("tests/base", &arena, &error);
    file_write(report, folder ? folder : "none", folder ? strlen(folder) : 4, &error);
    arena_free(&arena);
}

/* The folder "tests/base" stands for data: the source tree has it too, and only the installed one may be found. */
Test(file, installed_data_win_over_the_source_tree) {
    Place place = place_new();
    unsetenv("SHARDOPT_DATA");
    char *command = arena_format(&place.arena,
                                 "cd '%s' && mkdir -p bin share/shardopt/tests/base && cp /proc/%ld/exe bin/probe && "
                                 "env -i SHARDOPT_PROBE='%s/report' bin/probe --filter file/probe >/dev/null 2>&1",
                                 place.root, (long)getpid(), place.root);
    cr_assert_eq(system(command), 0);
    expect_content(&place, "report", in(&place, "bin/../share/shardopt/tests/base"));
    place_end(&place);
}
