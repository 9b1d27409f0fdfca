/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of the commands as JSON: packaging/words.py makes the manual page and the completions of shells of it. */
#include "base/build.h"
#include "base/json.h"
#include "search/cli/commands.h"

static bool add_owners(cJSON *json, const CommandOption *table, int row) {
    cJSON *list = json_add_array(json, "commands");
    for (int i = 0; list && i < COMMAND_COUNT; i++)
        if (COMMANDS[i]->options == table && command_has_option(COMMANDS[i], row) &&
            !json_add_text(list, NULL, COMMANDS[i]->name))
            return false;
    return list != NULL;
}

/* A table that commands share, in the order of its rows; `place`: in that of help. */
static bool add_table(cJSON *to, const Command *command) {
    int rows[OPTIONS_MAX], count;
    const char *headings[OPTIONS_MAX];
    char letter[2] = "";
    cJSON *list = json_add_array(to, NULL);
    count = command_sections(command, rows, headings);
    for (int i = 0; list && i < command->option_count; i++) {
        const CommandOption *row = &command->options[i];
        int place = 0;
        if (!row->name) continue;
        while (place < count && rows[place] != i) place++;
        letter[0] = row->letter;
        cJSON *json = json_add_object(list, NULL);
        if (!json_add_text(json, "name", row->name) || !json_add_text(json, "letter", letter) ||
            !json_add_text(json, "takes", row->takes) || !json_add_text(json, "heading", headings[place]) ||
            !json_add_whole(json, "place", place) || !json_add_text(json, "help", row->help) ||
            !json_add_text(json, "details", row->details) || !json_add_text(json, "values", row->values) ||
            !add_owners(json, command->options, i))
            return false;
    }
    return list != NULL;
}

static bool add_notes(cJSON *json, const CommandNote *note) {
    cJSON *list = json_add_array(json, "notes");
    for (; list && note && note->tag; note++) {
        cJSON *one = json_add_object(list, NULL);
        if (!json_add_text(one, "tag", note->tag) || !json_add_text(one, "text", note->text)) return false;
    }
    return list != NULL;
}

bool command_rows_write(FILE *out) {
    cJSON *json = cJSON_CreateObject();
    bool ok = json_add_text(json, "version", program_version());
    cJSON *commands = json_add_array(json, "commands"), *tables = json_add_array(json, "tables");
    const CommandOption *added[COMMAND_COUNT];
    int count = 0;
    for (int i = 0; ok && i < COMMAND_COUNT; i++) {
        const Command *command = COMMANDS[i];
        int table = 0;
        while (table < count && added[table] != command->options) table++;
        if (table == count) added[count++] = command->options, ok = add_table(tables, command);
        cJSON *one = json_add_object(commands, NULL);
        ok = ok && json_add_text(one, "name", command->name) && json_add_text(one, "summary", command->summary) &&
             json_add_text(one, "usage", command->usage) && json_add_text(one, "details", command->details) &&
             json_add_text(one, "argument_values", command->argument_values) && json_add_whole(one, "table", table) &&
             json_add_bool(one, "ignores", command_ignores(command)) && add_notes(one, command->notes);
    }
    ok = ok && json_add_text(json, "ignore_unknown", COMMAND_IGNORE_ROW.help) && json_print(out, json);
    cJSON_Delete(json);
    return ok;
}
