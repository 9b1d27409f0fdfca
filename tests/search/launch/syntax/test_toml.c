/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What Python's tomllib says of TOML at random: each key with its value; lists and tables in a line are there. Skipped
 * where there is no Python with it. */
#include "tests/search/launch/syntax/random_files.h"

#include <ctype.h>

static void end_line(RandomFile *to) {
    put(to, "%s", ONE_OF("", "", " ", "\t# of it = \"x", " #"));
    put(to, to->carriage ? "\r\n" : "\n");
}

/* A name that is not there yet. */
static void put_name(RandomFile *to) {
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

static void put_value(RandomFile *to, int depth) {
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

static void put_line(RandomFile *to) {
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

/* tomllib does not say which tables stand in a line: their keys i0 and i1 do. */
static const char CODE[] =
    "def inline(value): return value and set(value) <= {'i0', 'i1'}\n"
    "def word(value):\n"
    "    if isinstance(value, bool): return str(value).lower()\n"
    "    return '{' if isinstance(value, dict) else '[' if isinstance(value, list) else str(value)\n"
    "def each(prefix, table):\n"
    "    for key, value in table.items():\n"
    "        if isinstance(value, dict) and not inline(value):\n"
    "            yield from each(prefix + key + '.', value)\n"
    "        else:\n"
    "            yield prefix + key, word(value)\n"
    "def flat(text): return each('', tomllib.loads(text, parse_float=lambda t: t.replace('_', '')))\n";

static void write_file(RandomFile *to) {
    for (unsigned lines = below(14); lines > 0; lines--) put_line(to);
}

Test(toml, as_tomllib_reads_it) {
    expect_as_python(&(BesidePython){"tomllib", CODE, write_file, config_read_toml, print_read});
}
