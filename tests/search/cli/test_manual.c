/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is made from the rows of the commands: the files of docs/ are what the program prints, and every row is fit to
 * be printed. After a change of a row: shardopt help --man >docs/shardopt.1, and so on (GENERATED below). */
#include "base/arena.h"
#include "base/file.h"
#include "base/util.h"
#include "search/cli/commands.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *path, *command;
    void (*write)(FILE *out);
} GENERATED[] = {
    {"docs/shardopt.1", "shardopt help --man", manual_write},
    {"docs/completion/shardopt.bash", "shardopt help --completion bash", completion_write_bash},
    {"docs/completion/_shardopt", "shardopt help --completion zsh", completion_write_zsh},
    {"docs/completion/shardopt.fish", "shardopt help --completion fish", completion_write_fish},
};

Test(manual, files_are_what_the_program_prints) {
    for (size_t i = 0; i < COUNT_OF(GENERATED); i++) {
        Arena arena = {0};
        Error error = {0};
        char path[512], *text = NULL, *file;
        size_t length = 0, file_length;
        FILE *memory = open_memstream(&text, &length);
        GENERATED[i].write(memory);
        fclose(memory);
        snprintf(path, sizeof path, "%s/%s", SHARDOPT_SOURCE_DATA, GENERATED[i].path);
        cr_assert(file_read(path, 1 << 20, &arena, &file, &file_length, &error), "%s: %s", error.where, error.text);
        cr_expect(length == file_length && memcmp(text, file, length) == 0, "%s differs: run `%s >%s`",
                  GENERATED[i].path, GENERATED[i].command, GENERATED[i].path);
        cr_expect_not(strstr(text, "(null)"), "%s has rows without a name", GENERATED[i].path);
        free(text);
        arena_free(&arena);
    }
}

/* Names and letters are not given twice, and every row says what it does. */
Test(manual, rows_are_whole) {
    for (int c = 0; c < COMMAND_COUNT; c++) {
        const Command *command = COMMANDS[c];
        cr_expect(command->summary && command->usage && command->details && command->footer && command->examples, "%s",
                  command->name);
        cr_expect((command->run != NULL) != (command->run_words != NULL), "%s runs in one way", command->name);
        for (int i = 0; i < command->option_count; i++) {
            const CommandOption *row = &command->options[i];
            if (!command_has_option(command, i)) continue;
            cr_expect(row->help && row->help[0], "%s --%s has no help", command->name, row->name);
            cr_expect(strcmp(row->name, "help") != 0 && row->letter != 'h', "%s --help is not of a row", command->name);
            for (int j = 0; j < i; j++) {
                if (!command_has_option(command, j)) continue;
                cr_expect(strcmp(row->name, command->options[j].name) != 0, "%s --%s twice", command->name, row->name);
                cr_expect(!row->letter || row->letter != command->options[j].letter, "%s -%c twice", command->name,
                          row->letter);
            }
        }
    }
}

/* A page of 120 columns holds the help of every command. */
Test(manual, help_fits_a_page) {
    for (int c = 0; c < COMMAND_COUNT; c++) {
        char *text = NULL;
        size_t length = 0;
        FILE *memory = open_memstream(&text, &length);
        help_of_command(COMMANDS[c], memory);
        fclose(memory);
        char *examples = strstr(text, "\nExamples:\n"); /* lines that are copied, whole */
        if (examples) *examples = '\0';
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
            cr_expect(strlen(line) <= 120, "%s: %s", COMMANDS[c]->name, line);
        free(text);
    }
}
