/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The YAML of launch files, read by libyaml: tables become keys joined by dots, lists one text as it would stand in
 * brackets, an alias what its anchor names, << what the tables behind it have and the table itself has not. Tags of a
 * program's own, several documents and keys that are no words are refused, each at its place. */
#include "search/launch/syntax/config_file.h"

#include "base/utf8.h"

#include <string.h>
#include <yaml.h>

/* Marks count characters, and places bytes: the offset of every 64th character is kept. */
enum { STRIDE = 64, PAIRS_MAX = 8 * CONFIG_ENTRIES_MAX };

typedef struct {
    yaml_document_t *document;
    ConfigFile *file;
    Error *error;
    const char *text;
    size_t length, *offsets; /* of characters 0, 64, 128, ... in bytes */
    size_t characters;       /* in all */
    size_t written, pairs;   /* bytes of lists and keys of tables so far: aliases of aliases grow fast */
} Yaml;

/* A table that has a key hides it in those which are merged into it. */
typedef struct Hidden {
    const yaml_node_t *by;
    const struct Hidden *outer;
} Hidden;

/* ---- places ---- */

static bool keep_offsets(Yaml *yaml) {
    yaml->offsets = arena_alloc(yaml->file->arena, yaml->length / STRIDE + 1, sizeof *yaml->offsets);
    if (!yaml->offsets) return error_memory(yaml->error);
    for (size_t at = 0; at < yaml->length; at += utf8_size(yaml->text + at, yaml->length - at)) {
        if (yaml->characters % STRIDE == 0) yaml->offsets[yaml->characters / STRIDE] = at;
        yaml->characters++;
    }
    return true;
}

static size_t offset_of(const Yaml *yaml, size_t character) {
    if (character >= yaml->characters) return yaml->length;
    size_t at = yaml->offsets[character / STRIDE];
    for (size_t left = character % STRIDE; left > 0; left--) at += utf8_size(yaml->text + at, yaml->length - at);
    return at;
}

static int64_t line_of(yaml_mark_t mark) { return (int64_t)mark.line + 1; }

static int64_t column_of(const Yaml *yaml, yaml_mark_t mark) {
    return (int64_t)(offset_of(yaml, mark.index) - offset_of(yaml, mark.index - mark.column)) + 1;
}

static bool wrong(const Yaml *yaml, yaml_mark_t mark, const char *what) {
    return config_wrong_at(yaml->file, line_of(mark), column_of(yaml, mark), yaml->error, "%s", what);
}

/* What libyaml has against the text. */
static bool refuse(const Yaml *yaml, const yaml_parser_t *parser) {
    if (parser->error == YAML_MEMORY_ERROR) return error_memory(yaml->error);
    if (parser->error == YAML_READER_ERROR) {
        int64_t line = 1;
        size_t end = parser->problem_offset < yaml->length ? parser->problem_offset : yaml->length, start = end;
        while (start > 0 && yaml->text[start - 1] != '\n') start--;
        for (size_t i = 0; i < start; i++) line += yaml->text[i] == '\n';
        return config_wrong_at(yaml->file, line, (int64_t)(end - start) + 1, yaml->error,
                               "is no YAML: %.80s; give a text file", parser->problem);
    }
    /* what stays open is found where it begins, not where the text ends */
    bool begins = parser->context &&
                  (parser->error == YAML_SCANNER_ERROR || offset_of(yaml, parser->problem_mark.index) >= yaml->length);
    yaml_mark_t mark = begins ? parser->context_mark : parser->problem_mark;
    return config_wrong_at(yaml->file, line_of(mark), column_of(yaml, mark), yaml->error, "is no YAML: %.80s%s%.80s",
                           parser->problem, parser->context ? " " : "", parser->context ? parser->context : "");
}

/* ---- values ---- */

static const yaml_node_t *node_at(const Yaml *yaml, int id) { return yaml_document_get_node(yaml->document, id); }

/* Tags of YAML itself say what a value looks like; others call a program's own code. */
static bool check_tag(const Yaml *yaml, const yaml_node_t *node) {
    static const char OWN[] = "tag:yaml.org,2002:", *const KINDS[] = {"str",  "int", "float", "bool",
                                                                      "null", "seq", "map",   NULL};
    const char *tag = (const char *)node->tag;
    if (!tag) return true;
    for (int i = 0; strncmp(tag, OWN, sizeof OWN - 1) == 0 && KINDS[i]; i++)
        if (strcmp(tag + sizeof OWN - 1, KINDS[i]) == 0) return true;
    return wrong(yaml, node->start_mark, "has a tag that only a program's own reader knows; write the value out");
}

static bool check_scalar(const Yaml *yaml, const yaml_node_t *node) {
    if (memchr(node->data.scalar.value, '\0', node->data.scalar.length))
        return wrong(yaml, node->start_mark, "has a NUL in it; give a text");
    return true;
}

/* Lists are written twice: with `out` NULL to count their bytes. */
typedef struct {
    char *out;
    size_t used;
} Text;

static void put(Text *text, const char *bytes, size_t length) {
    if (text->out) memcpy(text->out + text->used, bytes, length);
    text->used += length;
}

static void put_scalar(Text *text, const yaml_node_t *node) {
    const char *value = (const char *)node->data.scalar.value;
    size_t length = node->data.scalar.length;
    bool bare = length > 0 && strcspn(value, " \t\r\n,[]{}\"'#:") == length;
    const char *quote = memchr(value, '"', length) ? "'" : "\"";
    if (!bare) put(text, quote, 1);
    put(text, value, length);
    if (!bare) put(text, quote, 1);
}

static bool put_node(Yaml *yaml, const yaml_node_t *node, int depth, Text *text) {
    if (depth > CONFIG_DEPTH_MAX) return wrong(yaml, node->start_mark, "nests too deep; give a flat file");
    if (yaml->written + text->used > CONFIG_TEXT_MAX)
        return wrong(yaml, node->start_mark, "its lists are too long; give a launch configuration");
    if (!check_tag(yaml, node)) return false;
    if (node->type == YAML_SCALAR_NODE) {
        if (!check_scalar(yaml, node)) return false;
        put_scalar(text, node);
        return true;
    }
    bool list = node->type == YAML_SEQUENCE_NODE;
    put(text, list ? "[" : "{", 1);
    if (list)
        for (yaml_node_item_t *item = node->data.sequence.items.start; item < node->data.sequence.items.top; item++) {
            if (item > node->data.sequence.items.start) put(text, ", ", 2);
            if (!put_node(yaml, node_at(yaml, *item), depth + 1, text)) return false;
        }
    else
        for (yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
            if (pair > node->data.mapping.pairs.start) put(text, ", ", 2);
            if (!put_node(yaml, node_at(yaml, pair->key), depth + 1, text)) return false;
            put(text, ": ", 2);
            if (!put_node(yaml, node_at(yaml, pair->value), depth + 1, text)) return false;
        }
    put(text, list ? "]" : "}", 1);
    return true;
}

/* A list in brackets; NULL: *error. */
static const char *list_text(Yaml *yaml, const yaml_node_t *node, int depth) {
    Text text = {0};
    if (!put_node(yaml, node, depth, &text)) return NULL;
    size_t size = text.used;
    text = (Text){.out = arena_alloc(yaml->file->arena, size + 1, 1)};
    if (!text.out) {
        error_memory(yaml->error);
        return NULL;
    }
    if (!put_node(yaml, node, depth, &text)) return NULL;
    text.out[size] = '\0';
    yaml->written += size;
    return text.out;
}

/* What a value is kept as; NULL: *error. Nobody needs the words behind | and >. */
static const char *value_text(Yaml *yaml, const yaml_node_t *node, int depth) {
    if (node->type == YAML_SEQUENCE_NODE) return list_text(yaml, node, depth);
    if (node->type == YAML_MAPPING_NODE) return "";
    if (!check_scalar(yaml, node)) return NULL;
    bool block =
        node->data.scalar.style == YAML_LITERAL_SCALAR_STYLE || node->data.scalar.style == YAML_FOLDED_SCALAR_STYLE;
    const char *value =
        block ? "(text)" : config_copy(yaml->file, (const char *)node->data.scalar.value, node->data.scalar.length);
    if (!value) error_memory(yaml->error);
    return value;
}

/* ---- tables ---- */

static bool has_key(const Yaml *yaml, const yaml_node_t *table, const yaml_node_t *key) {
    for (yaml_node_pair_t *pair = table->data.mapping.pairs.start; pair < table->data.mapping.pairs.top; pair++) {
        const yaml_node_t *other = node_at(yaml, pair->key);
        if (other->type == YAML_SCALAR_NODE && other->data.scalar.length == key->data.scalar.length &&
            memcmp(other->data.scalar.value, key->data.scalar.value, key->data.scalar.length) == 0)
            return true;
    }
    return false;
}

static bool is_hidden(const Yaml *yaml, const Hidden *hidden, const yaml_node_t *key) {
    for (; hidden; hidden = hidden->outer)
        if (has_key(yaml, hidden->by, key)) return true;
    return false;
}

static bool is_merge(const yaml_node_t *key) {
    return key->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && strcmp((const char *)key->data.scalar.value, "<<") == 0;
}

/* The table that `key:` holds; `hidden` are those whose keys win. */
typedef struct {
    const yaml_node_t *node;
    const char *prefix; /* of its keys: "", "model." */
    const Hidden *hidden;
    int depth;
} Table;

static bool add_table(Yaml *yaml, const Table *table);

static bool check_key(const Yaml *yaml, const yaml_node_t *key) {
    if (key->type != YAML_SCALAR_NODE || key->data.scalar.length == 0)
        return wrong(yaml, key->start_mark, "is no key; give lines like key: value");
    return check_tag(yaml, key) && check_scalar(yaml, key);
}

static bool add_pair(Yaml *yaml, const Table *table, const yaml_node_t *name, const yaml_node_t *node) {
    const char *key = arena_format(yaml->file->arena, "%s%s", table->prefix, (const char *)name->data.scalar.value);
    if (!key) return error_memory(yaml->error);
    if (!check_tag(yaml, node)) return false;
    if (node->type == YAML_MAPPING_NODE && node->data.mapping.pairs.start < node->data.mapping.pairs.top) {
        const char *prefix = arena_format(yaml->file->arena, "%s.", key);
        if (!prefix) return error_memory(yaml->error);
        return add_table(yaml, &(Table){node, prefix, NULL, table->depth + 1});
    }
    const char *value = value_text(yaml, node, table->depth + 1);
    return value && config_add(yaml->file, key, value, line_of(name->start_mark), column_of(yaml, name->start_mark),
                               NULL, yaml->error);
}

/* The first of several tables behind << wins over those after it. */
static bool merge(Yaml *yaml, const Table *into, const yaml_node_t *node) {
    if (node->type == YAML_MAPPING_NODE)
        return add_table(yaml, &(Table){node, into->prefix, into->hidden, into->depth + 1});
    if (node->type != YAML_SEQUENCE_NODE)
        return wrong(yaml, node->start_mark, "<< merges no table; give the alias of one");
    Hidden chain[CONFIG_DEPTH_MAX];
    const Hidden *hidden = into->hidden;
    int count = 0;
    for (yaml_node_item_t *item = node->data.sequence.items.start; item < node->data.sequence.items.top; item++) {
        const yaml_node_t *one = node_at(yaml, *item);
        if (one->type != YAML_MAPPING_NODE || count == CONFIG_DEPTH_MAX)
            return wrong(yaml, node->start_mark, "<< merges no table, or too many; give aliases of a few");
        if (!add_table(yaml, &(Table){one, into->prefix, hidden, into->depth + 1})) return false;
        chain[count] = (Hidden){one, hidden};
        hidden = &chain[count++];
    }
    return true;
}

static bool add_table(Yaml *yaml, const Table *table) {
    const yaml_node_t *node = table->node;
    const Hidden hidden = {node, table->hidden};
    if (table->depth >= CONFIG_DEPTH_MAX) return wrong(yaml, node->start_mark, "nests too deep; give a flat file");
    for (int merging = 0; merging < 2; merging++)
        for (yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
            const yaml_node_t *key = node_at(yaml, pair->key), *value = node_at(yaml, pair->value);
            if (++yaml->pairs > PAIRS_MAX)
                return wrong(yaml, node->start_mark, "has aliases of aliases; give a launch configuration");
            if (!check_key(yaml, key)) return false;
            if (is_merge(key) != (merging == 1)) continue;
            bool ok = merging ? merge(yaml, &(Table){node, table->prefix, &hidden, table->depth}, value)
                              : is_hidden(yaml, table->hidden, key) || add_pair(yaml, table, key, value);
            if (!ok) return false;
        }
    return true;
}

/* ---- the document ---- */

static bool read_documents(Yaml *yaml, yaml_parser_t *parser) {
    for (int count = 0;; count++) {
        yaml_document_t document;
        if (!yaml_parser_load(parser, &document)) return refuse(yaml, parser);
        yaml->document = &document;
        const yaml_node_t *root = yaml_document_get_root_node(&document);
        bool ok = true;
        if (root && count > 0)
            ok = wrong(yaml, document.start_mark, "a second document begins; give one");
        else if (root && root->type == YAML_MAPPING_NODE)
            ok = check_tag(yaml, root) && add_table(yaml, &(Table){.node = root, .prefix = ""});
        else if (root && !(root->type == YAML_SCALAR_NODE && root->data.scalar.length == 0))
            ok = wrong(yaml, root->start_mark, "is no table; give lines like key: value");
        yaml_document_delete(&document);
        if (!ok || !root) return ok;
    }
}

static bool begin(const Yaml *yaml, yaml_parser_t *parser) {
    if (!yaml_parser_initialize(parser)) return error_memory(yaml->error);
    yaml_parser_set_input_string(parser, (const unsigned char *)yaml->text, yaml->length);
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING);
    return true;
}

static int deeper(yaml_token_type_t type) {
    bool begins = type == YAML_BLOCK_SEQUENCE_START_TOKEN || type == YAML_BLOCK_MAPPING_START_TOKEN ||
                  type == YAML_FLOW_SEQUENCE_START_TOKEN || type == YAML_FLOW_MAPPING_START_TOKEN;
    bool ends =
        type == YAML_BLOCK_END_TOKEN || type == YAML_FLOW_SEQUENCE_END_TOKEN || type == YAML_FLOW_MAPPING_END_TOKEN;
    return begins - ends;
}

/* Many levels, or many anchors, take libyaml a time that is quadratic: they are refused before anything is loaded. */
static bool check_size(const Yaml *yaml) {
    yaml_parser_t parser;
    bool ok = true, more = true;
    int anchors = 0;
    if (!begin(yaml, &parser)) return false;
    for (int depth = 0; ok && more;) {
        yaml_token_t token;
        ok = yaml_parser_scan(&parser, &token) || refuse(yaml, &parser);
        if (!ok) break;
        more = token.type != YAML_STREAM_END_TOKEN;
        depth += deeper(token.type);
        anchors += token.type == YAML_ANCHOR_TOKEN;
        if (depth > CONFIG_DEPTH_MAX) ok = wrong(yaml, token.start_mark, "nests too deep; give a flat file");
        if (anchors > CONFIG_ENTRIES_MAX)
            ok = wrong(yaml, token.start_mark, "is one anchor too many; give a launch configuration");
        yaml_token_delete(&token);
    }
    yaml_parser_delete(&parser);
    return ok;
}

bool config_read_yaml(const char *text, size_t length, ConfigFile *file, Error *error) {
    Yaml yaml = {.file = file, .error = error, .text = text, .length = length};
    yaml_parser_t parser;
    if (!config_check_text(file, text, length, error) || !keep_offsets(&yaml) || !check_size(&yaml)) return false;
    if (!begin(&yaml, &parser)) return false;
    bool ok = read_documents(&yaml, &parser);
    yaml_parser_delete(&parser);
    return ok;
}
