/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What PyYAML says of YAML at random: each key with its value, tables that are merged put in; lists are there. Skipped
 * where there is no PyYAML. */
#include "tests/search/launch/syntax/random_files.h"

static void end_line(RandomFile *to) {
    put(to, "%s%s", ONE_OF("", "", " ", " # of it: \"x", "  #"), to->carriage ? "\r\n" : "\n");
}

/* A name that is not there yet. */
static void put_name(RandomFile *to) {
    int number = to->names++;
    switch (below(5)) {
    case 0:
        put(to, "\"k %d: #\"", number);
        break;
    case 1:
        put(to, "'k=%d]'", number);
        break;
    case 2:
        put(to, "k x%d", number);
        break;
    default:
        put(to, "k%d", number);
    }
}

static void put_scalar(RandomFile *to, bool flow) {
    switch (below(4)) {
    case 0:
        put(to, "%s", ONE_OF("0", "-7", "8_192", "1e-5", "true", "None", "~", "0.5"));
        break;
    case 1:
        put(to, "\"%s\"", ONE_OF("", "a b", "x # y", "it's", "q \\\"r\\\" \\\\", "l\\nm\\tn", "\u00e9: ["));
        break;
    case 2:
        put(to, "'%s'", ONE_OF("", "a b", "c:\\d", "say \"x\"", "# no", "x{[", "it''s"));
        break;
    default:
        if (flow)
            put(to, "%s", ONE_OF("a", "two words", "x#y", "a/b"));
        else
            put(to, "%s", ONE_OF("a", "two words", "x#y", "http://h:80/p", "a, b", "it's", "x{y}", "-o", "a'b'"));
    }
}

static void put_lines(RandomFile *to, int indent, int depth) {
    for (unsigned lines = 1 + below(5); lines > 0; lines--) {
        if (below(6) == 0) put(to, "%*s%s\n", (int)below(4), "", ONE_OF("", "# k: no", "#"));
        put(to, "%*s", indent, "");
        put_name(to);
        put(to, "%s:", ONE_OF("", "", " "));
        switch (below(depth > 2 ? 6 : 9)) {
        case 0:
            end_line(to);
            break;
        case 1:
            put(to, " [");
            for (unsigned items = below(4); items > 0; items--) {
                put_scalar(to, true);
                put(to, "%s", items > 1 ? ONE_OF(",", ", ") : "");
            }
            put(to, "]");
            end_line(to);
            break;
        case 2:
            put(to, " {");
            for (unsigned items = 1 + below(2); items > 0; items--) {
                put(to, "f%d: ", to->names++);
                put_scalar(to, true);
                put(to, "%s", items > 1 ? ", " : "");
            }
            put(to, "}");
            end_line(to);
            break;
        case 6:
        case 7: {
            int anchor = below(3) == 0 && to->anchors < 256 ? to->names++ : -1;
            if (anchor >= 0) put(to, " &a%d", anchor);
            put(to, "\n");
            put_lines(to, indent + 1 + (int)below(3), depth + 1);
            if (anchor >= 0) to->anchor[to->anchors++] = anchor;
        } break;
        case 8:
            if (to->anchors > 0)
                put(to, "\n%*s<<: *a%d\n%*sm%d: 1\n", indent + 2, "", to->anchor[below((unsigned)to->anchors)],
                    indent + 2, "", to->names++);
            else
                put(to, " 1\n");
            break;
        default:
            put(to, "%s", ONE_OF(" ", "  "));
            put_scalar(to, false);
            end_line(to);
        }
    }
}

static void print_read(const ConfigFile *file, FILE *out) {
    for (int64_t i = 0; i < file->count; i++)
        fprintf(out, "%s\037%s\036", file->entries[i].key,
                file->entries[i].value[0] == '[' ? "[" : file->entries[i].value);
}

static const char CODE[] = "class Texts(yaml.SafeLoader): pass\n"
                           "Texts.yaml_implicit_resolvers = {'<': yaml.SafeLoader.yaml_implicit_resolvers['<']}\n"
                           "def each(prefix, table):\n"
                           "    for key, value in table.items():\n"
                           "        if isinstance(value, dict):\n"
                           "            yield from each(prefix + key + '.', value)\n"
                           "        else:\n"
                           "            yield prefix + key, '[' if isinstance(value, list) else value\n"
                           "def flat(text): return each('', yaml.load(text, Texts) or {})\n";

static void write_file(RandomFile *to) { put_lines(to, 0, 0); }

Test(yaml, as_pyyaml_reads_it) {
    expect_as_python(&(BesidePython){"yaml", CODE, write_file, config_read_yaml, print_read});
}
