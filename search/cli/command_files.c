/* SPDX-License-Identifier: GPL-3.0-or-later */
/* That no file of a command line is written over another one of it. */
#include "base/file.h"
#include "search/cli/command.h"

#include <string.h>

/* Whether the word is that file. What an option reads is often a name of ours (a model, a set of profiles): there must
 * be a file of that name. */
static bool is_file(const char *word, bool may_not_be_there, const char *path) {
    return word[0] != '\0' && strcmp(word, "-") != 0 && (may_not_be_there || file_is_there(word)) &&
           file_same(word, path);
}

bool files_are_apart(const CommandLine *line, Error *error) {
    const Command *command = line->command;
    for (int i = 0; i < command->option_count; i++) {
        const char *path = line->text[i];
        if (!command->options[i].writes || !path || path[0] == '\0' || strcmp(path, "-") == 0) continue;
        for (int j = 0; j < command->option_count; j++) {
            bool earlier = j < i || !command->options[j].writes; /* of two that are written the later one is named */
            if (j != i && earlier && line->text[j] && command->options[j].takes &&
                is_file(line->text[j], command->options[j].writes, path))
                return error_set(error, ERROR_INPUT, line->where[i], "is the file of %s too; give another one",
                                 line->where[j]);
        }
        for (int j = 0; j < line->argument_count; j++)
            if (is_file(line->arguments[j], false, path))
                return error_set(error, ERROR_INPUT, line->where[i], "is %.80s, which is read; give another one",
                                 line->arguments[j]);
    }
    return true;
}
