/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What Python's tomllib says of TOML at random: each key with its value; lists and tables in a line are there. Skipped
 * where there is no Python with it. */
#include "base/util.h"
#include "search/launch/syntax/config_file.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILES = 400, TEXT = 8192 };

static uint64_t state = 20261125;

static unsigned below(unsigned count) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % count;
}

typedef struct {
    char text[TEXT];
    size_t used;
    int names;
    bool carriage; /* lines end in CR LF */
} Toml;

static void put(Toml *to, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    to->used += (size_t)vsnprintf(to->text + to->used, sizeof to->text - to->used, format, arguments);
    va_end(arguments);
}

static const char *one_of(const char *const *list, unsigned count) { return list[below(count)]; }
#define ONE_OF(...)                                                                                                    \
    one_of((const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void end_line(Toml *to) {
    put(to, "%s", ONE_OF("", "", " ", "\t# of it = \"x", " #"));
    put(to, to->carriage ? "\r\n" : "\n");
}

/* A name that is not there yet. */
static void put_name(Toml *to) {
    int number = to->names++;
    switch (below(6)) {
    case 0:
        put(to, "\"k %d.#\"", number);
        break;
    case 1:
        put(to, "'k=%d]'", number);
        break;
    case 2:
        put(to, "k%d.x-y_z", number);
        break;
    case 3:
        put(to, "k%d . \"a\\\"b\\t\".7", number);
        break;
    case 4:
        put(to, "%d-K_", number);
        break;
    default:
        put(to, "k%d", number);
    }
}

static void put_value(Toml *to, int depth) {
    switch (below(depth > 1 ? 6 : 8)) {
    case 0:
        put(to, "%s", ONE_OF("0", "16", "-7", "+12", "8_192", "1_000_000", "9007199254740993"));
        break;
    case 1:
        put(to, "%s", ONE_OF("0.5", "-1.25", "1e-5", "3E+2", "6.02e23", "1e5", "0.0"));
        break;
    case 2:
        put(to, "%s", ONE_OF("true", "false"));
        break;
    case 3:
        put(to, "\"%s\"", ONE_OF("", "a b", "x # y", "it's", "q \\\"r\\\" \\\\", "l\\nm\\tn", "\u00e9 = [", "a]b}"));
        break;
    case 4:
    case 5:
        put(to, "'%s'", ONE_OF("", "a b", "c:\\d", "say \"x\"", "# no", "x{["));
        break;
    case 6:
        put(to, "[");
        for (unsigned items = below(4); items > 0; items--) {
            put(to, "%s", ONE_OF("", " ", "\n  ", " # an item ]\n"));
            put_value(to, depth + 1);
            put(to, "%s", items > 1 ? "," : ONE_OF("", ",", " ", "\n"));
        }
        put(to, "]");
        break;
    default:
        put(to, "{");
        for (unsigned items = 1 + below(2), i = 0; i < items; i++) {
            put(to, "%s i%u = ", i > 0 ? "," : "", i);
            put_value(to, depth + 1);
        }
        put(to, " }");
    }
}

static void put_line(Toml *to) {
    switch (below(8)) {
    case 0:
        put(to, "%s", ONE_OF("", "# [no]", "   # k = 1"));
        break;
    case 1:
        put(to, "[%s", ONE_OF("", " "));
        put_name(to);
        put(to, "%s]", ONE_OF("", " ", "\t"));
        break;
    default:
        put(to, "%s", ONE_OF("", "", "  ", "\t"));
        put_name(to);
        put(to, "%s=%s", ONE_OF("", " ", "  "), ONE_OF("", " ", "\t "));
        put_value(to, 0);
    }
    end_line(to);
}

/* Keys and values as Python's; numbers without what only parts their digits, and of lists and tables the bracket. */
static void print_read(const ConfigFile *file, FILE *out) {
    for (int64_t i = 0; i < file->count; i++) {
        const char *value = file->entries[i].value;
        fprintf(out, "%s\037", file->entries[i].key);
        if (value[0] == '[' || value[0] == '{') {
            fputc(value[0], out);
        } else if (isdigit((unsigned char)value[0]) || (value[0] == '+' && value[1])) {
            for (const char *c = value + (value[0] == '+'); *c; c++)
                if (*c != '_') fputc(*c, out);
        } else {
            fputs(value, out);
        }
        fputc('\036', out);
    }
}

static const char PYTHON[] = "import sys, tomllib\n"
                             "def flat(prefix, table):\n"
                             "    for key, value in table.items():\n"
                             "        if isinstance(value, dict) and not isinstance(value, Inline):\n"
                             "            yield from flat(prefix + key + '.', value)\n"
                             "        else:\n"
                             "            yield prefix + key, value\n";

/* tomllib does not say which tables stand in a line: their keys i0 and i1 do. */
static const char REST[] =
    "class Inline(dict): pass\n"
    "def marked(value):\n"
    "    if isinstance(value, dict):\n"
    "        kept = {k: marked(v) for k, v in value.items()}\n"
    "        return Inline(kept) if kept and set(kept) <= {'i0', 'i1'} else kept\n"
    "    return value\n"
    "def word(value):\n"
    "    return '{' if isinstance(value, dict) else '[' if isinstance(value, list) else str(value).lower() if value in "
    "(True, "
    "False) and isinstance(value, bool) else str(value)\n"
    "for text in open(sys.argv[1], newline='').read().split('\\x1d')[:-1]:\n"
    "    table = {k: marked(v) for k, v in tomllib.loads(text, parse_float=lambda t: t.replace('_', '')).items()}\n"
    "    for line in sorted(k + '\\x1f' + word(v) + '\\x1e' for k, v in flat('', table)): sys.stdout.write(line)\n"
    "    sys.stdout.write('\\x1d')\n";

static int by_bytes(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* The entries, which end in 30, in the order of their bytes. */
static char *sorted(char *text) {
    char *lines[4096], *result = calloc(strlen(text) + 1, 1);
    size_t count = 0;
    for (char *line = strtok(text, "\036"); line; line = strtok(NULL, "\036")) lines[count++] = line;
    qsort(lines, count, sizeof *lines, by_bytes);
    for (size_t i = 0; i < count; i++) strcat(strcat(result, lines[i]), "\036");
    return result;
}

Test(toml, as_tomllib_reads_it) {
    static Toml files[FILES];
    static char said[1 << 22];
    char path[] = "/tmp/shardopt-toml-XXXXXX", program[] = "/tmp/shardopt-toml-XXXXXX", command[128];
    if (system("python3 -c 'import tomllib' >/dev/null 2>&1") != 0) cr_skip_test("there is no tomllib");
    FILE *file = fdopen(mkstemp(path), "w"), *code = fdopen(mkstemp(program), "w");
    cr_assert(file && code);
    fprintf(code, "%s%s", PYTHON, REST);
    for (int f = 0; f < FILES; f++) {
        files[f].carriage = below(4) == 0;
        for (unsigned lines = below(14); lines > 0; lines--) put_line(&files[f]);
        cr_assert_lt(files[f].used, sizeof files[f].text);
        fprintf(file, "%s\035", files[f].text);
    }
    fclose(file), fclose(code);
    snprintf(command, sizeof command, "python3 %s %s", program, path);
    FILE *pipe = popen(command, "r");
    said[fread(said, 1, sizeof said - 1, pipe)] = '\0';
    cr_expect_eq(pclose(pipe), 0);
    char *at = said;
    int wrong = 0;
    for (int f = 0; f < FILES; f++) {
        Arena arena = {0};
        Error error = {0};
        ConfigFile config = {.name = "f", .arena = &arena};
        char *end = strchr(at, '\035'), *read = NULL;
        size_t length;
        cr_assert_not_null(end, "Python ended at\n%s", files[f].text);
        *end = '\0';
        char *bytes = malloc(files[f].used ? files[f].used : 1);
        memcpy(bytes, files[f].text, files[f].used);
        cr_assert(config_read_toml(bytes, files[f].used, &config, &error), "%s: %s\n%s", error.where, error.text,
                  files[f].text);
        FILE *memory = open_memstream(&read, &length);
        print_read(&config, memory);
        fclose(memory);
        char *ordered = sorted(read);
        if (strcmp(ordered, at) != 0 && wrong++ < 4)
            cr_expect(false, "Python: %s\nread: %s\n%s", at, ordered, files[f].text);
        free(ordered), free(read), free(bytes);
        arena_free(&arena);
        at = end + 1;
    }
    cr_expect_eq(wrong, 0, "%d of %d", wrong, FILES);
    unlink(path), unlink(program);
}
