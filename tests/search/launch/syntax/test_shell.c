/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What bash says of scripts at random: the words of each command, with variables, arrays, defaults, sums, conditions
 * and quotation marks put in. Skipped where there is no bash. */
#include "search/launch/syntax/shell.h"
#include "tests/search/launch/syntax/random_files.h"

#include <ctype.h>

enum { SCRIPTS = 1500, TEXT = 4096, NAMES = 4 };

typedef struct {
    char text[TEXT];
    size_t used;
    int known, numbers, arrays, words; /* bits of V0.. N0.. A0.. C0.. that have a value */
    bool bare;                         /* it ends in $V0: a letter behind it would make another name */
} Script;

static void add(Script *to, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    size_t begin = to->used;
    to->used += (size_t)vsnprintf(to->text + to->used, sizeof to->text - to->used, format, arguments);
    va_end(arguments);
    if (to->bare && to->used > begin && (isalnum((unsigned char)to->text[begin]) || to->text[begin] == '_'))
        to->text[begin] = ':';
    to->bare = to->bare && to->used == begin;
}

/* One of those that have a value; -1: none has. */
static int some(int known) {
    int at = (int)below(NAMES);
    for (int i = 0; i < NAMES; i++, at = (at + 1) % NAMES)
        if (known >> at & 1) return at;
    return -1;
}

static void put_sum(Script *to, int depth) {
    int number = some(to->numbers);
    unsigned way = below(depth > 2 ? 2 : 7);
    if (way == 0 || (way == 1 && number < 0)) {
        add(to, "%u", below(20));
    } else if (way == 1) {
        add(to, below(2) ? "N%d" : below(2) ? "$N%d" : "${N%d}", number);
    } else if (way == 2) {
        add(to, "(");
        put_sum(to, depth + 1);
        add(to, ")");
    } else {
        put_sum(to, depth + 1);
        if (way == 6)
            add(to, below(2) ? " / %u" : " %% %u", 1 + below(9));
        else
            add(to, way == 3 ? "+" : way == 4 ? " * " : " - "), put_sum(to, depth + 1);
    }
}

static void put_expansion(Script *to, bool quoted) {
    int variable = some(to->known), number = some(to->numbers), array = some(to->arrays);
    switch (below(6)) {
    case 0:
        if (variable < 0) break;
        add(to, "$V%d", variable);
        to->bare = true;
        break;
    case 1:
        add(to, below(2) ? "${UNSET:-%s}" : "${UNSET-%s}", below(2) ? "7" : quoted ? "a b" : "ab");
        break;
    case 2:
        if (variable >= 0) add(to, "${V%d-no}", variable);
        break;
    case 3:
        if (number >= 0) add(to, "${N%d}", number);
        break;
    case 4:
        add(to, "$((");
        put_sum(to, 0);
        add(to, "))");
        break;
    default:
        if (quoted && array >= 0) add(to, "${A%d[@]}", array);
    }
}

static void put_word(Script *to) {
    static const char *const PLAIN[] = {"a", "bc", "--key", "=", "8", "/x", ".", "_",
                                        ":", ",",  "1e-5",  "#", "%", "@",  "+", "!x"};
    unsigned pieces = 1 + below(3);
    size_t begin = to->used;
    for (unsigned i = 0; i < pieces; i++) {
        switch (below(7)) {
        case 0:
            add(to, "'%s'", below(3) ? "q r" : below(2) ? "$V0 \"\\" : "");
            break;
        case 1:
        case 2:
            add(to, "\"");
            for (unsigned part = below(4); part > 0; part--) {
                if (below(2))
                    put_expansion(to, true);
                else
                    add(to, "%s", ONE_OF(" ", "d", "\\\"", "\\\\", "\\$", "'", "#", "  e", "\\d", "\\'"));
            }
            add(to, "\"");
            break;
        case 3:
            put_expansion(to, false);
            break;
        case 4:
            add(to, "\\%c", " $\"'\\#;x"[below(8)]);
            break;
        default:
            add(to, "%s", PLAIN[below(to->used == begin ? 8 : COUNT_OF(PLAIN))]);
        }
    }
}

static void put_blank(Script *to) { add(to, "%s", ONE_OF(" ", " ", "  ", "\t", " \\\n  ")); }

static void put_test(Script *to, int variable) {
    switch (below(4)) {
    case 0:
        add(to, "[ -z \"$C%d\" ]", variable);
        break;
    case 1:
        add(to, "[[ \"$C%d\" == a ]]", variable);
        break;
    case 2:
        add(to, "[ \"$C%d\" != bc ]", variable);
        break;
    default:
        add(to, "[ -n \"${C%d}\" ]", variable);
    }
}

static void put_command(Script *to) {
    add(to, "cmd");
    for (unsigned words = below(5); words > 0; words--) put_blank(to), put_word(to);
    add(to, "%s", ONE_OF("\n", ";\n", " # no 'more\n", "; ", " 2>/dev/null; cmd z\n", " 2>&1\n"));
}

static void put_statement(Script *to, int depth) {
    int name = (int)below(NAMES);
    switch (below(depth > 2 ? 8 : 10)) {
    case 0:
    case 1:
        add(to, "V%d=", name);
        if (below(2) && some(to->known) >= 0) add(to, "${V%d}", some(to->known));
        if (below(4)) put_word(to);
        add(to, "\n");
        to->known |= 1 << name;
        break;
    case 2:
        add(to, "%sN%d=%u\n", below(3) ? "" : "export ", name, below(100));
        to->numbers |= 1 << name;
        break;
    case 3:
        add(to, to->arrays >> name & 1 && below(2) ? "A%d+=(" : "A%d=(", name);
        for (unsigned words = below(4); words > 0; words--) {
            put_word(to);
            add(to, "%s", below(4) ? " " : " # of it\n ");
        }
        add(to, ")\n");
        to->arrays |= 1 << name;
        break;
    case 6: /* and-lists and or-lists of conditions */
        if (some(to->words) < 0) break;
        for (unsigned parts = 1 + below(3); parts > 0; parts--) {
            put_test(to, some(to->words));
            add(to, "%s", ONE_OF(" && ", " || ", " &&\n  ", "||"));
        }
        switch (below(4)) {
        case 0:
            put_command(to);
            break;
        case 1:
            add(to, "cmd s\n");
            break;
        case 2:
            if (some(to->arrays) >= 0)
                add(to, below(2) ? "A%d+=(x 'y z')\n" : "A%d=(u)\n", some(to->arrays));
            else
                add(to, "cmd r\n");
            break;
        default:
            add(to, "{ cmd t; ");
            if (some(to->known) >= 0) add(to, "V%d=$V%d; ", some(to->known), some(to->known));
            add(to, below(2) ? "cmd u; }\n" : "cmd u\n}\n");
        }
        break;
    case 7: /* what conditions are of: a $ in a value leaves them open */
        add(to, "C%d=%s\n", name, ONE_OF("", "a", "bc", "'q r'", "8", "\"\""));
        to->words |= 1 << name;
        break;
    case 4:
        if (to->known >> name & 1) {
            add(to, "V%d+=", name);
            put_word(to);
            add(to, "\n");
        }
        break;
    case 8:
    case 9: {
        int variable = some(to->words);
        unsigned way = below(4);
        if (variable < 0) break;
        int known = to->known, numbers = to->numbers, arrays = to->arrays,
            words = to->words; /* those of a branch may not be there */
        add(to,
            way == 0   ? "if [ -z \"$C%d\" ]; then\n"
            : way == 1 ? "if [[ \"$C%d\" == a ]]; then\n"
            : way == 2 ? "if [ \"$C%d\" != bc ]\nthen\n"
                       : "if [ -n \"${C%d}\" ]; then ",
            variable);
        put_statement(to, depth + 1);
        to->known = known, to->numbers = numbers, to->arrays = arrays, to->words = words;
        if (below(2)) {
            add(to, "cmd y\nelif [ \"$C%d\" = bc ]; then cmd x; ", variable);
            put_statement(to, depth + 1);
            to->known = known, to->numbers = numbers, to->arrays = arrays, to->words = words;
        }
        if (below(2)) {
            add(to, below(2) ? "cmd v\nelse\n" : "cmd v; else ");
            int one = some(to->known), other = some(to->known);
            if (one >= 0) add(to, "V%d=$V%d\n", one, other);
            put_statement(to, depth + 1);
            to->known = known, to->numbers = numbers, to->arrays = arrays, to->words = words;
        }
        add(to, "cmd w\nfi\n");
        if (some(to->arrays) >= 0) add(to, "cmd \"${A%d[@]}\"\n", some(to->arrays));
        if (some(to->known) >= 0) add(to, "cmd \"$V%d\"\n", some(to->known));
        break;
    }
    default:
        put_command(to);
    }
}

/* Words end in 31, commands in 30, scripts in 29: as bash prints them. */
static void print_read(const ShellScript *script, FILE *out) {
    for (int64_t c = 0; c < script->command_count; c++) {
        const ShellWords *words = &script->commands[c];
        if (strcmp(words->items[0].text, "cmd") != 0) continue;
        for (int64_t w = 1; w < words->count; w++) fprintf(out, "%s\037", words->items[w].text);
        fprintf(out, "\036");
    }
}

static char *all_of(FILE *file, size_t *length) {
    char *text = NULL;
    size_t room = 0;
    *length = 0;
    do {
        room += 1 << 16;
        text = realloc(text, room + 1);
        cr_assert_not_null(text);
        *length += fread(text + *length, 1, room - *length, file);
    } while (*length == room);
    text[*length] = '\0';
    return text;
}

Test(shell, as_bash_reads_it) {
    static Script scripts[SCRIPTS];
    char path[] = "/tmp/shardopt-shell-XXXXXX", command[128];
    random_state = 20261124;
    if (system("bash -c : >/dev/null 2>&1") != 0) cr_skip_test("there is no bash");
    int descriptor = mkstemp(path);
    FILE *file = fdopen(descriptor, "w");
    cr_assert_not_null(file);
    fputs("cmd() { [ $# = 0 ] || printf '%s\\037' \"$@\"; printf '\\036'; }\nset -f\n", file);
    for (int s = 0; s < SCRIPTS; s++) {
        for (unsigned statements = 2 + below(8); statements > 0; statements--) put_statement(&scripts[s], 0);
        cr_assert_lt(scripts[s].used, sizeof scripts[s].text);
        fprintf(file, "(\n:\n%s\n)\nprintf '\\035'\n", scripts[s].text);
    }
    fclose(file);
    snprintf(command, sizeof command, "bash %s", path);
    FILE *pipe = popen(command, "r");
    size_t length;
    char *said = all_of(pipe, &length), *at = said;
    cr_expect_eq(pclose(pipe), 0);
    int wrong = 0;
    for (int s = 0; s < SCRIPTS; s++) {
        Arena arena = {0};
        Error error = {0};
        ShellScript script;
        ConfigFile config = {.name = "f", .arena = &arena};
        char *end = strchr(at, '\035'), *read = NULL;
        cr_assert_not_null(end, "bash ended in script %d:\n%s", s, scripts[s].text);
        *end = '\0';
        char *bytes = malloc(scripts[s].used);
        memcpy(bytes, scripts[s].text, scripts[s].used);
        cr_assert(shell_read(bytes, scripts[s].used, &config, &script, &error), "%s: %s\n%s", error.where, error.text,
                  scripts[s].text);
        FILE *memory = open_memstream(&read, &length);
        print_read(&script, memory);
        fclose(memory);
        if (strcmp(read, at) != 0 && wrong++ < 6) cr_expect(false, "bash: %s\nread: %s\n%s", at, read, scripts[s].text);
        free(bytes);
        free(read);
        arena_free(&arena);
        at = end + 1;
    }
    cr_expect_eq(wrong, 0, "%d of %d", wrong, SCRIPTS);
    free(said);
    unlink(path);
}
