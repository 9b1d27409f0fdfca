/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every row of the commands is fit to be printed. After a change of a row: packaging/words.py build/shardopt. */
#include "search/cli/commands.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* Names and letters are not given twice, and every row says what it does. */
Test(commands, rows_are_whole) {
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
Test(commands, help_fits_a_page) {
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
