/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever the words are, one a line, they are a request or refused with one line. The zoo is loaded each time, which
 * makes this the slowest of the fuzzers. */
#include "search/cli/commands.h"
#include "search/cli/output_options.h"
#include "search/options/options.h"
#include "tests/fuzz/files.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { WORDS_MAX = 24 };
    Arena arena = {0};
    Error error = {0};
    Options options;
    char *words[WORDS_MAX + 1] = {"plan"}, *text = malloc(size + 1);
    int count = 1;
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    for (char *word = strtok(text, "\n"); word && count < WORDS_MAX; word = strtok(NULL, "\n")) words[count++] = word;
    Request *request = ARENA_NEW(&arena, Request, 1);
    bool ok = options_parse(count, words, &COMMAND_PLAN, &arena, &options, &error) &&
              request_from_options(&options, &arena, request, &error);
    bool said = error.kind == ERROR_INPUT || error.kind == ERROR_IO;
    if (ok != (error.kind == ERROR_NONE) || (!ok && (!said || strchr(error.text, '\n')))) abort();
    if (ok && (request->question.work.sequences < 1 || request->question.machine.mesh.chips < 1)) abort();
    free(text);
    arena_free(&arena);
    return 0;
}
