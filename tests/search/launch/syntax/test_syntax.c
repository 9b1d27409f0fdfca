/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The readers of YAML, TOML, JSON and words: which value each key has and where it stands; and what is refused,
 * where. */
#include "base/util.h"
#include "search/launch/syntax/config_file.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef bool (*Read)(const char *text, size_t length, ConfigFile *file, Error *error);

/* In a buffer of its own without a NUL behind it, so that a sanitizer sees a step past its end. */
static bool read_bytes(Read read, const char *text, size_t length, ConfigFile *file, Arena *arena, Error *error) {
    char *bytes = malloc(length > 0 ? length : 1);
    if (length > 0) memcpy(bytes, text, length);
    *file = (ConfigFile){.name = "f", .arena = arena};
    *error = (Error){0};
    bool ok = read(bytes, length, file, error);
    free(bytes);
    return ok;
}

static const ConfigEntry *entry_of(const ConfigFile *file, const char *key) {
    for (int64_t i = 0; i < file->count; i++)
        if (strcmp(file->entries[i].key, key) == 0) return &file->entries[i];
    return NULL;
}

/* `value` NULL: the key is not there. Lines and columns counted by hand. */
static const struct {
    const char *name;
    Read read;
    const char *text, *key, *value;
    int64_t line, column;
} READ[] = {
    {"yaml: a key", config_read_yaml, "a: 1\nbc: two words # no\n", "bc", "two words", 2, 1},
    {"yaml: a comment needs a blank", config_read_yaml, "a: x#y\n", "a", "x#y", 1, 1},
    {"yaml: quotes", config_read_yaml, "a: 'it''s' # c\nb: \"x # \\\"y\\\"\"\n", "a", "it's", 1, 1},
    {"yaml: double quotes", config_read_yaml, "b: \"x # \\\"y\\\"\"\n", "b", "x # \"y\"", 1, 1},
    {"yaml: tables by indentation", config_read_yaml, "m:\n  n:\n    k: 5\n  o: 6\np: 7\n", "m.n.k", "5", 3, 5},
    {"yaml: back out", config_read_yaml, "m:\n  n:\n    k: 5\n  o: 6\np: 7\n", "m.o", "6", 4, 3},
    {"yaml: all the way", config_read_yaml, "m:\n  n:\n    k: 5\n  o: 6\np: 7\n", "p", "7", 5, 1},
    {"yaml: a list over lines", config_read_yaml, "a: [1, # one\n  2]\nb: 3\n", "b", "3", 3, 1},
    {"yaml: dashes", config_read_yaml, "a:\n- x\n- y: 1\n  z: 2\nb: 3\n", "b", "3", 5, 1},
    {"yaml: text behind |", config_read_yaml, "a: |\n  key: no\n\n  more\nb: 3\n", "key", NULL, 0, 0},
    {"yaml: and on", config_read_yaml, "a: >-\n  key: no\n\n  more\nb: 3\n", "b", "3", 5, 1},
    {"yaml: no value", config_read_yaml, "a:\nb: 3\n", "a", "", 1, 1},
    {"yaml: no last line end", config_read_yaml, "a: 3", "a", "3", 1, 1},
    {"yaml: a document's mark", config_read_yaml, "# c\n---\na: 3\n", "a", "3", 3, 1},
    {"yaml: CR LF", config_read_yaml, "m:\r\n  k: 5\r\np: 7\r\n", "p", "7", 3, 1},
    {"yaml: an alias", config_read_yaml, "a: &x 16\nb: *x\n", "b", "16", 2, 1},
    {"yaml: an alias of a table", config_read_yaml, "a: &x\n  k: 5\nb: *x\n", "b.k", "5", 2, 3},
    {"yaml: merged", config_read_yaml, "d: &x\n  k: 5\n  l: 6\nb:\n  <<: *x\n  k: 7\n", "b.k", "7", 6, 3},
    {"yaml: what is merged besides", config_read_yaml, "d: &x\n  k: 5\n  l: 6\nb:\n  <<: *x\n  k: 7\n", "b.l", "6", 3,
     3},
    {"yaml: the first of two merged", config_read_yaml, "d: &x {k: 1}\ne: &y {k: 2, l: 3}\nb: {<<: [*x, *y]}\n", "b.k",
     "1", 1, 8},
    {"yaml: and the second", config_read_yaml, "d: &x {k: 1}\ne: &y {k: 2, l: 3}\nb: {<<: [*x, *y]}\n", "b.l", "3", 2,
     14},
    {"yaml: a tag of YAML", config_read_yaml, "a: !!int 1\n", "a", "1", 1, 1},
    {"yaml: a table in braces", config_read_yaml, "a: {b: 2, c: 3}\n", "a.c", "3", 1, 11},
    {"yaml: a list", config_read_yaml, "a:\n- x\n- 'y z'\n- {k: 2}\n", "a", "[x, \"y z\", {k: 2}]", 1, 1},
    {"yaml: columns are bytes", config_read_yaml, "a: {\u00e4: 1, b: 2}\n", "a.b", "2", 1, 12},
    {"yaml: a mark in front", config_read_yaml, "\ufeffa: 1\n", "a", "1", 1, 4},
    {"yaml: a url is no key", config_read_yaml, "a: gs://b/c\n", "a", "gs://b/c", 1, 1},
    {"toml: tables", config_read_toml, "x = 1\n[a.b]\n  k = 8_192 # c\n", "a.b.k", "8_192", 3, 3},
    {"toml: dotted and quoted keys", config_read_toml, "a.\"b c\".d = true\n", "a.b c.d", "true", 1, 1},
    {"toml: quotes", config_read_toml, "a = \"x # \\\"y\\\"\"\nb = 'c\\n'\n", "a", "x # \"y\"", 1, 1},
    {"toml: literal quotes", config_read_toml, "b = 'c\\n'\n", "b", "c\\n", 1, 1},
    {"toml: a list over lines", config_read_toml, "a = [\n \"x\", # y\n]\nb = -1\n", "b", "-1", 4, 1},
    {"toml: no blanks", config_read_toml, "a=1.5e-4\r\nb=2\r\n", "b", "2", 2, 1},
    {"python: constants", config_read_python, "import x\nA = 5  # c\nB = \"y\"\n", "A", "5", 2, 1},
    {"python: brackets over lines", config_read_python, "A = {\n  'b': (1, ']'),\n}\nB = True\n", "B", "True", 4, 1},
    {"python: not what is inside", config_read_python, "def f():\n    A = 1\nB = 2\n", "A", NULL, 0, 0},
    {"json: tables", config_read_json, "{\"a\":{\"b\":[1,2],\"c\":null},\"d\":5e8}", "a.b", "[1,2]", 0, 0},
    {"json: numbers", config_read_json, "{\"a\":{\"b\":[1,2],\"c\":null},\"d\":5e8}", "d", "500000000", 0, 0},
    {"words: a flag and its value", config_read_words, "run x.py --a 1 --b --c-d=2\n", "c-d", "2", 1, 20},
    {"words: a bare flag", config_read_words, "run x.py --a 1 --b --c-d=2\n", "b", "", 1, 16},
    {"words: several values", config_read_words, "run x.py --a 1 2 3 --b\n", "a", "1 2 3", 1, 10},
    {"words: negative numbers", config_read_words, "run x.py --a -1\n", "a", "-1", 1, 10},
    {"words: only behind the program", config_read_words, "torchrun --x 1 run.py --y 2\n", "x", NULL, 0, 0},
    {"words: the machine", config_read_words, "torchrun --nnodes=4 --nproc_per_node 8 run.py --y 2\n", "(nodes)", "4",
     1, 10},
    {"words: a module", config_read_words, "python3 -m a.b base.yml k=5 l=\"x y\"\n", "l", "x y", 1, 29},
    {"words: over lines", config_read_words, "run x.py \\\n  --a 1 \\\n  --b 2\n", "b", "2", 3, 3},
    {"words: variables", config_read_words, "N=3\nexport M=${N}4\nrun x.py --a $M\n", "a", "34", 3, 10},
    {"words: a default", config_read_words, "N=${1:-7}\nrun x.py --a $N --b ${Q:-'9'}\n", "b", "9", 2, 17},
    {"words: a sum", config_read_words, "N=3\nrun x.py --a $((2 * (N + 1) / 4 - 1))\n", "a", "1", 2, 10},
    {"words: what nobody knows", config_read_words, "run x.py --a $(date +%s) --b $Q\n", "b", "$Q", 1, 26},
    {"words: what nobody knows, behind a value", config_read_words, "run x.py --a 1 $MORE --b 2\n", "a", "1", 1, 10},
    {"words: and on", config_read_words, "run x.py --a 1 ${MORE} more --b 2\n", "b", "2", 1, 29},
    {"words: what is empty", config_read_words, "E=\nrun x.py --a 1 $E --b $E\n", "b", "", 2, 19},
    {"words: a text assigned", config_read_words, "A=\"--a 1 --b 2\"\nC=$A\nrun x.py $C\n", "b", "2", 3, 10},
    {"words: arrays", config_read_words, "A=(--a 1 # c\n --b 2)\nA+=(--c 3)\nrun x.py ${A[@]}\n", "b", "2", 2, 2},
    {"words: an array that grew", config_read_words, "A=(--a 1)\nA+=(--c 3)\nrun x.py \"${A[@]}\"\n", "c", "3", 2, 5},
    {"words: no array behind two names", config_read_words, "A=b=(x)\nrun x.py --a $A\n", "a", "", 2, 10},
    {"words: flags in one text", config_read_words, "A=\"--a 1 --b 2\"\nrun x.py $A\n", "b", "2", 2, 10},
    {"words: two in quotes", config_read_words, "A=(\"--a hybrid\")\nrun x.py ${A[@]}\n", "a", "hybrid", 1, 4},
    {"words: behind a test that nobody knows", config_read_words,
     "N=1\n[ \"$Q\" = 1 ] && N=2\n[ -z \"$P\" ] && P=3\nrun x.py --a $N --b $P\n", "a", "1", 4, 10},
    {"words: what has no value gets one there", config_read_words,
     "N=1\n[ \"$Q\" = 1 ] && N=2\n[ -z \"$P\" ] && P=3\nrun x.py --a $N --b $P\n", "b", "3", 4, 17},
    {"words: a branch not taken", config_read_words, "if [ a == b ]; then\n A=1\nelse\n A=2\nfi\nrun x.py --a $A\n",
     "a", "2", 6, 10},
    {"words: a branch taken", config_read_words, "if [[ -n x ]]; then A=1; else A=2; fi\nrun x.py --a $A\n", "a", "1",
     2, 10},
    {"words: nobody knows", config_read_words, "if [ -f z ]; then A=1; else A=2; fi\nrun x.py --a $A\n", "a", "1", 2,
     10},
    {"words: a file behind it", config_read_words, "run x.py --a 1 --b > log 2>&1\n", "b", "", 1, 16},
    {"words: a pipe", config_read_words, "run x.py --b | tee --c 1\n", "c", NULL, 0, 0},
    {"words: a command in quotes", config_read_words, "srun bash -c \"torchrun x.py --a 5\"\n", "a", "5", 1, 15},
    {"words: a list alone", config_read_words, "--a 5\n--b\n", "a", "5", 1, 1},
    {"words: arrays alone", config_read_words, "A=(--a 5 --b)\n", "a", "5", 1, 4},
    {"words: lines alone", config_read_words, "ici_x=4\nici_y=5\n", "ici_y", "5", 2, 7},
    {"words: the command with most arguments", config_read_words, "python prep.py --a 1\npython go.py --a 2 --b\n", "a",
     "2", 2, 14},
    {"words: a text behind <<", config_read_words, "cat > f <<'END'\n--a 1 '\nEND\nrun x.py --b 2\n", "b", "2", 4, 10},
    {"words: which is kept", config_read_words, "cat > f <<END\nx = 1\nEND\nrun x.py --b 2\n", "(text)", "x = 1\n", 1,
     1},
    {"words: comments", config_read_words, "# --a 1 '\nrun x.py --b 2 # --a 3\n", "a", NULL, 0, 0},
};

Test(syntax, values_and_places) {
    for (size_t i = 0; i < COUNT_OF(READ); i++) {
        Arena arena = {0};
        ConfigFile file;
        Error error;
        bool ok = read_bytes(READ[i].read, READ[i].text, strlen(READ[i].text), &file, &arena, &error);
        const ConfigEntry *entry = ok ? entry_of(&file, READ[i].key) : NULL;
        cr_expect(ok, "%s: %s: %s", READ[i].name, error.where, error.text);
        cr_expect((entry != NULL) == (READ[i].value != NULL), "%s", READ[i].name);
        if (entry && READ[i].value) {
            cr_expect_str_eq(entry->value, READ[i].value, "%s: %s", READ[i].name, entry->value);
            cr_expect_eq(entry->line, READ[i].line, "%s: line %d", READ[i].name, (int)entry->line);
            cr_expect_eq(entry->column, READ[i].column, "%s: column %d", READ[i].name, (int)entry->column);
        }
        arena_free(&arena);
    }
}

static const struct {
    const char *name;
    Read read;
    const char *text, *where;
} REFUSED[] = {
    {"yaml: no colon", config_read_yaml, "a: 1\njust words\n", "f:2:1"},
    {"yaml: an alias of nothing", config_read_yaml, "a: *x\n", "f:1:4"},
    {"yaml: an alias of itself", config_read_yaml, "a: &x\n  b: *x\n", "f:1:4"},
    {"yaml: a list in itself", config_read_yaml, "a: &x [1, *x]\n", "f:1:8"},
    {"yaml: a tag of a program", config_read_yaml, "a: !!python/tuple [1]\n", "f:1:4"},
    {"yaml: a tag of nobody", config_read_yaml, "b:\n  a: !ENV x\n", "f:2:6"},
    {"yaml: << of a word", config_read_yaml, "<<: a\n", "f:1:5"},
    {"yaml: a list as a key", config_read_yaml, "[a, b]: 1\n", "f:1:1"},
    {"yaml: a NUL", config_read_yaml, "a: \"x\\0y\"\n", "f:1:4"},
    {"yaml: bytes before the column", config_read_yaml, "a: {\u00e4: 1, b: !x 2}\n", "f:1:15"},
    {"yaml: a tab", config_read_yaml, "a:\n\tb: 1\n", "f:2:1"},
    {"yaml: between two levels", config_read_yaml, "a:\n    b: 1\n  c: 2\n", "f:3:3"},
    {"yaml: two values", config_read_yaml, "a: \"x\" y\n", "f:1:8"},
    {"yaml: a second value of a key", config_read_yaml, "a: 1\na: 2\n", "f:2:1"},
    {"yaml: a quote that stays open", config_read_yaml, "a: 'x\n", "f:1:4"},
    {"yaml: a list that ends with a comma", config_read_yaml, "a: [1,\n", "f:2:1"},
    {"yaml: a list that stays open", config_read_yaml, "a: [1\n", "f:1:4"},
    {"yaml: crossed brackets", config_read_yaml, "a: [1}\n", "f:1:6"},
    {"yaml: an item of nothing", config_read_yaml, "- a\n", "f:1:1"},
    {"yaml: two documents", config_read_yaml, "a: 1\n---\nb: 2\n", "f:2:1"},
    {"toml: no value", config_read_toml, "a = 1\nb =\n", "f:2:4"},
    {"toml: no key", config_read_toml, "= 5\n", "f:1:1"},
    {"toml: no sign", config_read_toml, "a 5\n", "f:1:3"},
    {"toml: a list of tables", config_read_toml, "[[a]]\n", "f:1:2"},
    {"toml: text over lines", config_read_toml, "a = \"\"\"x\"\"\"\n", "f:1:5"},
    {"toml: a table that stays open", config_read_toml, "[a\nb = 1\n", "f:1:3"},
    {"toml: a second value of a key", config_read_toml, "[a]\nb = 1\n[a]\nb = 2\n", "f:4:1"},
    {"toml: two values", config_read_toml, "a = 1 2\n", "f:1:7"},
    {"json: a second value of a key", config_read_json, "{\"a\":1,\n\"a\":2}", "f:2:1"},
    {"json: cut off", config_read_json, "{\"a\":{", "f:1:7"},
    {"json: no object", config_read_json, "[1]", "f"},
    {"python: brackets that stay open", config_read_python, "x\nA = (1,\n", "f:2:5"},
    {"words: a second value of a key", config_read_words, "run x.py --a 1 \\\n --a 2\n", "f:2:2"},
    {"words: a quote that stays open", config_read_words, "run x.py --a 'x\n", "f:1:14"},
    {"words: an array that stays open", config_read_words, "A=(--a 1\n", "f:1:4"},
    {"words: a brace that stays open", config_read_words, "run x.py ${A\n", "f:2:1"},
    {"words: a text that stays open", config_read_words, "cat <<END\nx\n", "f:2:1"},
    {"no UTF-8", config_read_yaml, "a: 1\nb: \xff\n", "f:2:4"},
    {"a control character", config_read_toml, "a = \x01\n", "f:1:5"},
};

Test(syntax, refused_with_the_place) {
    for (size_t i = 0; i < COUNT_OF(REFUSED); i++) {
        Arena arena = {0};
        ConfigFile file;
        Error error;
        bool ok = read_bytes(REFUSED[i].read, REFUSED[i].text, strlen(REFUSED[i].text), &file, &arena, &error);
        cr_expect(!ok && error.kind == ERROR_INPUT, "%s", REFUSED[i].name);
        cr_expect_str_eq(error.where, REFUSED[i].where, "%s: %s", REFUSED[i].name, error.where);
        arena_free(&arena);
    }
}

/* Every beginning of every text above, and the same with a NUL in it, is read or refused: no crash, no leak, no step
 * past the end (the sanitizers see to that). */
Test(syntax, any_beginning) {
    static const Read READERS[] = {config_read_yaml, config_read_toml, config_read_json, config_read_words,
                                   config_read_python};
    for (size_t i = 0; i < COUNT_OF(READ) + COUNT_OF(REFUSED); i++) {
        const char *text = i < COUNT_OF(READ) ? READ[i].text : REFUSED[i - COUNT_OF(READ)].text;
        for (size_t length = 0; length <= strlen(text); length++)
            for (size_t reader = 0; reader < COUNT_OF(READERS); reader++)
                for (int nul = 0; nul < 2; nul++) {
                    Arena arena = {0};
                    ConfigFile file;
                    Error error;
                    char copy[256];
                    memcpy(copy, text, length);
                    if (nul && length > 0) copy[length / 2] = '\0';
                    bool ok = read_bytes(READERS[reader], copy, length, &file, &arena, &error);
                    cr_expect_eq(ok, error.kind == ERROR_NONE, "%s", text);
                    cr_expect(!(ok && nul && length > 0), "a NUL is read in %s", text);
                    arena_free(&arena);
                }
    }
}

static bool reads(Read read, const char *text, size_t length) {
    Arena arena = {0};
    ConfigFile file;
    Error error;
    bool ok = read_bytes(read, text, length, &file, &arena, &error);
    arena_free(&arena);
    return ok;
}

/* What could grow without a bound: nesting, keys, words, variables made of variables, the file itself. */
Test(syntax, bounds) {
    enum { MANY = 200000 };
    char *text = malloc(2 * CONFIG_BYTES_MAX);
    memset(text, '[', MANY);
    memcpy(text, "a: ", 3);
    cr_expect(!reads(config_read_yaml, text, MANY), "lists in lists");
    memcpy(text, "a =", 3);
    cr_expect(!reads(config_read_toml, text, MANY), "lists in lists");
    memset(text, '{', MANY);
    cr_expect(!reads(config_read_json, text, MANY), "objects in objects");
    size_t used = 0;
    for (int i = 0; i < 100; i++) used += (size_t)sprintf(text + used, "%*sk:\n", i, "");
    cr_expect(!reads(config_read_yaml, text, used), "tables in tables");
    used = 0;
    for (int i = 0; i < 100; i++) used += (size_t)sprintf(text + used, "if x; then\n");
    cr_expect(!reads(config_read_words, text, used), "branches in branches");
    used = 0;
    for (int i = 0; i < CONFIG_ENTRIES_MAX + 1; i++) used += (size_t)sprintf(text + used, "k%d: 1\n", i);
    cr_expect(!reads(config_read_yaml, text, used), "keys");
    used = (size_t)sprintf(text, "a0: &a0 [x, x]\n");
    for (int i = 1; i < 30; i++) used += (size_t)sprintf(text + used, "a%d: &a%d [*a%d, *a%d]\n", i, i, i - 1, i - 1);
    cr_expect(!reads(config_read_yaml, text, used), "lists of lists of aliases");
    used = (size_t)sprintf(text, "a0: &a0 {x: 1, y: 2}\n");
    for (int i = 1; i < 30; i++)
        used += (size_t)sprintf(text + used, "a%d: &a%d {x: *a%d, y: *a%d}\n", i, i, i - 1, i - 1);
    cr_expect(!reads(config_read_yaml, text, used), "tables of tables of aliases");
    used = (size_t)sprintf(text, "a0: &a0 {x: 1}\n");
    for (int i = 1; i < 30; i++)
        used += (size_t)sprintf(text + used, "a%d: &a%d {<<: [*a%d, *a%d]}\n", i, i, i - 1, i - 1);
    cr_expect(!reads(config_read_yaml, text, used), "merges of merges");
    used = 0;
    for (int i = 0; i < MANY; i++) used += (size_t)sprintf(text + used, "- ");
    cr_expect(!reads(config_read_yaml, text, used), "dashes behind dashes");
    used = (size_t)sprintf(text, "run x.py ");
    for (int i = 0; i < 40000; i++) used += (size_t)sprintf(text + used, "w ");
    cr_expect(!reads(config_read_words, text, used), "words");
    used = (size_t)sprintf(text, "A=aaaaaaaa\n");
    for (int i = 0; i < 40; i++) used += (size_t)sprintf(text + used, "A=$A$A\n");
    cr_expect(!reads(config_read_words, text, used), "variables of variables");
    used = (size_t)sprintf(text, "A=(x y)\n");
    for (int i = 0; i < 40; i++) used += (size_t)sprintf(text + used, "A+=(${A[@]} ${A[@]})\n");
    cr_expect(!reads(config_read_words, text, used), "arrays of arrays");
    used = (size_t)sprintf(text, "A=1\nrun x.py --a $((");
    memset(text + used, '(', MANY);
    cr_expect(!reads(config_read_words, text, used + MANY), "sums in sums");
    memset(text, ' ', 2 * CONFIG_BYTES_MAX);
    cr_expect(!reads(config_read_yaml, text, CONFIG_BYTES_MAX + 1), "a long file");
    free(text);
}

Test(syntax, numbers_of_keys) {
    static const struct {
        const char *text;
        bool ok;
        int64_t value;
    } ROWS[] = {{"a: 8_192\n", true, 8192}, {"a: 1e3\n", true, 1000}, {"a: -1\n", true, -1},
                {"a: 0\n", false, 0},       {"a: -2\n", false, 0},    {"a: 99999999999999999999\n", false, 0},
                {"a: 1e400\n", false, 0},   {"a: x\n", false, 0},     {"a: 1.5\n", false, 0},
                {"a: null\n", true, 7},     {"b: 1\n", true, 7},      {"a: ''\n", true, 7}};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Arena arena = {0};
        ConfigFile file;
        Error error;
        int64_t value;
        cr_assert(read_bytes(config_read_yaml, ROWS[i].text, strlen(ROWS[i].text), &file, &arena, &error));
        bool ok = config_whole(&file, "a", -1, 1 << 20, 7, &value, &error);
        cr_expect_eq(ok, ROWS[i].ok, "%s", ROWS[i].text);
        if (ok) cr_expect_eq(value, ROWS[i].value, "%s: %d", ROWS[i].text, (int)value);
        if (!ok) cr_expect_str_eq(error.where, "f:1:1: a", "%s: %s", ROWS[i].text, error.where);
        arena_free(&arena);
    }
}

/* ---- notes ---- */

Test(syntax, notes_that_have_no_room_are_said) {
    Arena arena = {0};
    ConfigFile file = {.arena = &arena};
    for (int i = 0; i < CONFIG_NOTES_MAX; i++) config_note(&file, "note %d", i);
    cr_expect_str_eq(file.notes[CONFIG_NOTES_MAX - 1], "note 23");
    config_note(&file, "one more");
    cr_expect_eq(file.note_count, CONFIG_NOTES_MAX);
    cr_expect_str_eq(file.notes[CONFIG_NOTES_MAX - 1], "more was assumed or left out than these warnings say");
    arena_free(&arena);
}
