/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/file.h"
#include "base/json.h"
#include "base/util.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(literal) literal, sizeof(literal) - 1
#define LEVELS_8 "[[[[[[[["
#define ENDS_8 "]]]]]]]]"
#define LEVELS_64 LEVELS_8 LEVELS_8 LEVELS_8 LEVELS_8 LEVELS_8 LEVELS_8 LEVELS_8 LEVELS_8
#define ENDS_64 ENDS_8 ENDS_8 ENDS_8 ENDS_8 ENDS_8 ENDS_8 ENDS_8 ENDS_8
#define DIGITS_50 "12345678901234567890123456789012345678901234567890"

/* The text goes to the parser without the NUL after it: nothing may read there. */
static cJSON *parse_exact(const char *text, size_t length, Error *error) {
    char *copy = malloc(length ? length : 1);
    memcpy(copy, text, length);
    cJSON *json = json_parse(copy, length, "doc", error);
    free(copy);
    return json;
}

static const struct {
    const char *name, *text;
    size_t length;
} ACCEPTED[] = {
    {"object", TEXT("{\"a\": [1, 2.5, -0, 1e3, true, false, null, \"x\"], \"b\": {}}")},
    {"any value at the top", TEXT(" 1 ")},
    {"empty array", TEXT("[]")},
    {"all blanks", TEXT("\t\r\n [\r\n]\r\n")},
    {"all escapes", TEXT("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e4\\uD83D\\uDE00\"")},
    {"raw characters of 1 to 4 bytes", TEXT("\"a\xC3\xA4\xE5\xA4\xA7\xF0\x9F\x98\x80\"")},
    {"64 levels", TEXT(LEVELS_64 ENDS_64)},
    {"the largest double", TEXT("1.7976931348623157e308")},
    {"a subnormal", TEXT("4.9e-324")},
    {"zero, however spelled", TEXT("-0.000e999999999999")},
    {"more digits than 2^53", TEXT("18446744073709551615")},
    {"63 characters", TEXT(DIGITS_50 "1234567890123")},
    {"the same key in two objects", TEXT("[{\"a\":1},{\"a\":1},{\"b\":{\"a\":1},\"a\":2}]")},
    {"keys that differ in case", TEXT("{\"a\":1,\"A\":2}")},
    {"an empty key", TEXT("{\"\":1,\" \":2}")},
    {"a key that begins another", TEXT("{\"ab\":1,\"a\":2}")},
};

Test(json, accepted) {
    for (size_t i = 0; i < COUNT_OF(ACCEPTED); i++) {
        Error error = {0};
        cJSON *json = parse_exact(ACCEPTED[i].text, ACCEPTED[i].length, &error);
        cr_expect_not_null(json, "%s: %s %s", ACCEPTED[i].name, error.where, error.text);
        cJSON_Delete(json);
    }
}

static const struct {
    const char *name, *text;
    size_t length;
    const char *where, *part; /* a part of the message */
} REFUSED[] = {
    {"nothing", TEXT(""), "doc:1:1", "unexpected end of text; a value was expected"},
    {"blanks alone", TEXT(" \n "), "doc:2:2", "a value was expected"},
    {"a comma first", TEXT("{\"a\": ,}"), "doc:1:7", "unexpected ','; a value was expected"},
    {"a trailing comma", TEXT("[1,]"), "doc:1:4", "unexpected ']'; a value was expected"},
    {"a trailing comma in an object", TEXT("{\"a\":1,}"), "doc:1:8", "a key in quotes was expected"},
    {"two documents", TEXT("{}\n{}"), "doc:2:1", "the end of the text was expected"},
    {"an array that stays open", TEXT("[1"), "doc:1:3", "unexpected end of text; ',' or ']' was expected"},
    {"the wrong bracket", TEXT("[1}"), "doc:1:3", "unexpected '}'"},
    {"no colon", TEXT("{\"a\" 1}"), "doc:1:6", "':' was expected"},
    {"no comma", TEXT("{\"a\":1 \"b\":2}"), "doc:1:8", "',' or '}' was expected"},
    {"a key without quotes", TEXT("{a:1}"), "doc:1:2", "unexpected 'a'; a key in quotes"},
    {"a comment", TEXT("[1, // one\n2]"), "doc:1:5", "unexpected '/'"},
    {"single quotes", TEXT("['a']"), "doc:1:2", "unexpected '''"},
    {"NaN", TEXT("[NaN]"), "doc:1:2", "unexpected 'N'"},
    {"Infinity", TEXT("[-Infinity]"), "doc:1:3", "a digit was expected"},
    {"half a word", TEXT("[tru]"), "doc:1:2", "a value was expected"},
    {"a word and more", TEXT("[nullx]"), "doc:1:6", "',' or ']'"},
    {"a plus", TEXT("+1"), "doc:1:1", "unexpected '+'"},
    {"a leading zero", TEXT("[01]"), "doc:1:2", "leading zeros"},
    {"a point first", TEXT(".5"), "doc:1:1", "unexpected '.'"},
    {"a point last", TEXT("[5.]"), "doc:1:4", "a digit was expected"},
    {"an exponent without digits", TEXT("1e+"), "doc:1:4", "a digit was expected"},
    {"hex", TEXT("[0x10]"), "doc:1:3", "unexpected 'x'"},
    {"too large for a double", TEXT("[\n  1e400]"), "doc:2:3", "no double"},
    {"too large with many digits", TEXT(DIGITS_50 "e300"), "doc:1:1", "no double"},
    {"too small for a double", TEXT("-1e-400"), "doc:1:1", "no double"},
    {"an endless exponent", TEXT("1e99999999999999999999"), "doc:1:1", "no double"},
    {"64 characters", TEXT(DIGITS_50 "12345678901234"), "doc:1:1", "too long"},
    {"65 levels", TEXT("[" LEVELS_64 ENDS_64 "]"), "doc:1:65", "too deeply"},
    {"an open string", TEXT("[\"abc"), "doc:1:2", "does not end"},
    {"a string that ends in a backslash", TEXT("\"abc\\"), "doc:1:1", "does not end"},
    {"a raw newline in a string", TEXT("\"a\nb\""), "doc:1:3", "control character"},
    {"a NUL in a string", TEXT("\"a\0b\""), "doc:1:3", "control character"},
    {"a NUL between", TEXT("[1]\0"), "doc:1:4", "byte 0x00"},
    {"an escaped NUL", TEXT("\"\\u0000\""), "doc:1:2", "NUL"},
    {"an unknown escape", TEXT("\"\\x41\""), "doc:1:2", "unknown escape"},
    {"an escaped NUL byte", TEXT("\"\\\0\""), "doc:1:2", "unknown escape"},
    {"three hex digits", TEXT("\"\\u12g4\""), "doc:1:2", "four hex digits"},
    {"hex digits cut off", TEXT("\"\\u12"), "doc:1:2", "four hex digits"},
    {"a high surrogate alone", TEXT("\"\\uD800\""), "doc:1:2", "high surrogate"},
    {"two high surrogates", TEXT("\"\\uD800\\uD800\""), "doc:1:2", "high surrogate"},
    {"a high surrogate at the end", TEXT("\"\\uD800\\u"), "doc:1:2", "high surrogate"},
    {"a low surrogate alone", TEXT("\"\\uDC00\""), "doc:1:2", "low surrogate"},
    {"a long form of /", TEXT("\"\xC0\xAF\""), "doc:1:2", "UTF-8"},
    {"a surrogate in UTF-8", TEXT("\"\xED\xA0\x80\""), "doc:1:2", "UTF-8"},
    {"past U+10FFFF", TEXT("\"\xF4\x90\x80\x80\""), "doc:1:2", "UTF-8"},
    {"a character cut off", TEXT("\"\xE5\xA4"), "doc:1:2", "UTF-8"},
    {"a byte order mark", TEXT("\xEF\xBB\xBF{}"), "doc:1:1", "byte order mark"},
    {"columns are characters", TEXT("[\"\xC3\xA4\xE5\xA4\xA7\xF0\x9F\x98\x80\" x]"), "doc:1:8", "unexpected 'x'"},
    {"a key twice", TEXT("{\"a\":1,\n \"b\":2,\n \"a\":3}"), "doc:3:2", "given before"},
    {"a key twice, escaped once", TEXT("{\"\\u0061\":1,\"a\":3}"), "doc:1:13", "given before"},
    {"a key twice, beyond ASCII", TEXT("{\"\\uD83D\\uDE00\\u00e4\":1,\"\xF0\x9F\x98\x80\xC3\xA4\":3}"), "doc:1:25",
     "given before"},
    {"a key thrice: the first to repeat", TEXT("{\"a\":1,\"a\":2,\"a\":3}"), "doc:1:8", "given before"},
    {"two keys twice: the first to repeat", TEXT("{\"z\":1,\"a\":2,\"z\":3,\"a\":4}"), "doc:1:14", "given before"},
    {"a key twice, an object between", TEXT("{\"a\":1,\"b\":{\"a\":2,\"c\":3},\"a\":4}"), "doc:1:26", "given before"},
};

Test(json, refused_with_line_and_column) {
    for (size_t i = 0; i < COUNT_OF(REFUSED); i++) {
        Error error = {0};
        cJSON *json = parse_exact(REFUSED[i].text, REFUSED[i].length, &error);
        cr_expect_null(json, "%s", REFUSED[i].name);
        cr_expect_eq(error.kind, ERROR_INPUT, "%s", REFUSED[i].name);
        cr_expect_str_eq(error.where, REFUSED[i].where, "%s: %s: %s", REFUSED[i].name, error.where, error.text);
        cr_expect_not_null(strstr(error.text, REFUSED[i].part), "%s: %s", REFUSED[i].name, error.text);
        cr_expect_null(parse_exact(REFUSED[i].text, REFUSED[i].length, NULL), "%s", REFUSED[i].name);
        cJSON_Delete(json);
    }
}

Test(json, every_beginning_of_a_document_is_refused) {
    static const char DOCUMENT[] = "{\"a\\n\": [1.5e3, {\"\\uD83D\\uDE00\": \"\xE5\xA4\xA7\"}], \"b\": false}";
    for (size_t length = 0; length < sizeof DOCUMENT - 1; length++)
        cr_expect_null(parse_exact(DOCUMENT, length, NULL), "the first %zu bytes", length);
}

Test(json, many_keys_are_no_burden) {
    enum { KEYS = 100000 };
    char *text = malloc(KEYS * 16), *end = text;
    for (int i = 0; i < KEYS; i++) end += sprintf(end, "%c\"%d\":0", i ? ',' : '{', i);
    strcpy(end, "}");
    cJSON *json = json_parse(text, strlen(text), "doc", NULL);
    cr_expect_eq(cJSON_GetArraySize(json), KEYS);
    cJSON_Delete(json);
    free(text);
}

Test(json, a_long_name_keeps_its_end_and_its_line) {
    char where[1001] = "";
    memset(where, 'x', sizeof where - 10);
    strcpy(where + sizeof where - 10, "/v5p.json");
    Error error = {0};
    cr_expect_null(json_parse("[1,]", 4, where, &error));
    size_t length = strlen(error.where);
    cr_expect(length > 20 && strcmp(error.where + length - 13, "/v5p.json:1:4") == 0, "%s", error.where);
}

Test(json, plain_texts) {
    static const struct {
        const char *text;
        bool plain;
    } ROWS[] = {{"{\"a\": [\"b \\u00e9\", {\"c\": \"\\ud83d\\ude00\"}], \"d\": 5, \"e\": null}", true},
                {"{\"a\": [\"b\\n\"]}", false},
                {"{\"a\": {\"b\\t\": 5}}", false},
                {"[\"\\u001b[2J\"]", false},
                {"[\"\\u0085\"]", false},
                {"[\"\\u2028\"]", false},
                {"\"\\u007f\"", false}};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Error error = {0};
        cJSON *json = json_parse(ROWS[i].text, strlen(ROWS[i].text), "a", &error);
        cr_assert_not_null(json, "%s: %s", ROWS[i].text, error.text);
        cr_expect_eq(json_is_plain(json, "a", &error), ROWS[i].plain, "%s", ROWS[i].text);
        cr_expect_eq(error.kind, ROWS[i].plain ? ERROR_NONE : ERROR_INPUT, "%s", ROWS[i].text);
        cJSON_Delete(json);
    }
}

Test(json, hostile_files) {
    Arena arena = {0};
    Error error = {0};
    char **names;
    size_t count;
    cr_assert(file_list(SHARDOPT_TEST_DATA "/json", ".json", &arena, &names, &count, &error), "%s", error.text);
    cr_expect_geq(count, 5);
    for (size_t i = 0; i < count; i++) {
        error = (Error){0};
        cJSON *json = json_read_file(arena_format(&arena, "%s/json/%s", SHARDOPT_TEST_DATA, names[i]), &error);
        cr_expect_null(json, "%s", names[i]);
        cr_expect_eq(error.kind, ERROR_INPUT, "%s: %s", names[i], error.text);
        cr_expect_not_null(strstr(error.where, names[i]), "%s", error.where);
        cJSON_Delete(json);
    }
    arena_free(&arena);
}

Test(json, no_file) {
    Error error = {0};
    cr_expect_null(json_read_file("/nowhere/at.json", &error));
    cr_expect_eq(error.kind, ERROR_IO);
    cr_expect_null(json_read_file("/dev/zero", &error), "a device without end");
    cr_expect_null(json_read_file("/", &error));
    cr_expect_not_null(strstr(error.text, "a folder"), "%s", error.text);
}

static const char RECORD[] =
    "{\"training\": {\"batch_tokens\": 16777216, \"share\": 0.5, \"none\": null}, \"name\": \"llama\", \"on\": true,"
    " \"exact\": 9007199254740991, \"vague\": 9007199254740993, \"huge\": 1e300, \"minus\": -7, \"list\": [1], \"e\": "
    "1.5e1}";

static const struct {
    const char *path;
    int64_t low, high;
    bool ok;
    int64_t expected;
    const char *part; /* of the message */
} WHOLES[] = {
    {"training.batch_tokens", 1, INT64_MAX, true, 16777216, NULL},
    {"exact", 0, INT64_MAX, true, 9007199254740991, NULL},
    {"minus", -7, -7, true, -7, NULL},
    {"e", 0, 15, true, 15, NULL},
    {"vague", 0, INT64_MAX, false, 0, "2^53"},
    {"huge", 0, INT64_MAX, false, 0, "2^53"},
    {"training.share", 0, 9, false, 0, "training.share is 0.5; give a whole number from 0 to 9"},
    {"minus", 0, 9, false, 0, "minus is -7; give a whole number from 0 to 9"},
    {"e", 0, 14, false, 0, "e is 15"},
    {"name", 0, 9, false, 0, "name is text"},
    {"list", 0, 9, false, 0, "list is an array"},
    {"training", 0, 9, false, 0, "training is an object"},
    {"training.absent", 0, 9, false, 0, "training.absent is missing"},
    {"training.none", 0, 9, false, 0, "training.none is missing"},
    {"name.deeper", 0, 9, false, 0, "is missing"},
    {"list.0", 0, 9, false, 0, "is missing"},
    {"", 0, 9, false, 0, "is missing"},
    {"training.", 0, 9, false, 0, "is missing"},
    {"..", 0, 9, false, 0, "is missing"},
};

Test(json, whole) {
    cJSON *json = parse_exact(RECORD, sizeof RECORD - 1, NULL);
    for (size_t i = 0; i < COUNT_OF(WHOLES); i++) {
        Error error = {0};
        int64_t out = 42;
        cr_expect_eq(json_whole(json, WHOLES[i].path, WHOLES[i].low, WHOLES[i].high, "doc", &out, &error), WHOLES[i].ok,
                     "%s: %s", WHOLES[i].path, error.text);
        cr_expect_eq(out, WHOLES[i].ok ? WHOLES[i].expected : 42, "%s", WHOLES[i].path);
        if (WHOLES[i].part)
            cr_expect_not_null(strstr(error.text, WHOLES[i].part), "%s: %s", WHOLES[i].path, error.text);
    }
    cJSON_Delete(json);
}

Test(json, other_reads) {
    cJSON *json = parse_exact(RECORD, sizeof RECORD - 1, NULL);
    Error error = {0};
    int64_t whole;
    double real;
    bool flag;
    char text[6];
    cr_expect(json_whole_or(json, "absent", 0, 9, -1, "doc", &whole, &error) && whole == -1);
    cr_expect(json_whole_or(json, "training.none", 0, 9, -1, "doc", &whole, &error) && whole == -1);
    cr_expect_not(json_whole_or(json, "minus", 0, 9, -1, "doc", &whole, &error));
    cr_expect(json_real(json, "training.share", 0, 1, "doc", &real, &error) && real == 0.5);
    cr_expect(json_real_or(json, "absent", 0, 1, 0.25, "doc", &real, &error) && real == 0.25);
    cr_expect_not(json_real_or(json, "huge", 0, 1, 0.25, "doc", &real, &error));
    cr_expect_str_eq(error.text, "huge is 1e+300; give a number from 0 to 1");
    cr_expect_not(json_real(json, "on", 0, 1, "doc", &real, &error));
    cr_expect(json_bool_or(json, "on", false, "doc", &flag, &error) && flag);
    cr_expect(json_bool_or(json, "absent", true, "doc", &flag, &error) && flag);
    cr_expect_not(json_bool_or(json, "minus", true, "doc", &flag, &error));
    cr_expect(json_text(json, "name", "doc", text, 6, &error) && strcmp(text, "llama") == 0);
    cr_expect_not(json_text(json, "name", "doc", text, 5, &error), "no room for the NUL");
    cr_expect_not(json_text(json, "minus", "doc", text, 6, &error));
    cr_expect_not(json_text(json, "absent", "doc", text, 6, &error));
    cr_expect(json_text_or(json, "absent", "none", "doc", text, 6, &error) && strcmp(text, "none") == 0);
    cr_expect_null(json_at(NULL, "a"));
    cJSON_Delete(json);
}

static char *printed(const cJSON *json) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    cr_expect(json_print(out, json));
    fclose(out);
    return text;
}

static void *no_memory(size_t size) {
    (void)size;
    return NULL;
}

Test(json, what_lacks_something_is_not_printed) {
    cJSON *json = cJSON_Parse("{\"a\": {\"b\": 1}}");
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    cr_expect(json_print_line(out, json));
    cJSON_InitHooks(&(cJSON_Hooks){no_memory, free});
    bool added = json_add_real(json->child, "c", 2);
    cJSON_InitHooks(NULL);
    cr_expect_not(added);
    cr_expect_not(json_print_line(out, json));
    cr_expect_not(json_print(out, json));
    fclose(out);
    cr_expect_str_eq(text, "{\"a\": {\"b\": 1}}\n");
    free(text);
    cJSON_Delete(json);
}

Test(json, what_paths_name_is_printed) {
    static const char *const PATHS[] = {"a.b", "list.x", "list.in.y", "whole", NULL};
    cJSON *json = cJSON_Parse("{\"a\": {\"b\": 1, \"c\": 2}, \"gone\": 3, \"whole\": {\"k\": [1, 2]}, "
                              "\"list\": [{\"x\": 1, \"in\": {\"y\": \"t\", \"z\": 0}}, {\"x\": 2}, {\"x\": 3}]}");
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    cr_expect(json_print_kept(out, json, PATHS, 2));
    fclose(out);
    cr_expect_str_eq(text, "{\n  \"a\": {\"b\": 1},\n  \"whole\": {\n    \"k\": [\n      1,\n      2\n    ]\n  },\n"
                           "  \"list\": [\n    {\n      \"x\": 1,\n      \"in\": {\"y\": \"t\"}\n    },\n"
                           "    {\"x\": 2}\n  ]\n}\n");
    free(text);
    cJSON_Delete(json);
}

Test(json, printed_digits_are_all_there) {
    cJSON *json = cJSON_CreateObject();
    cJSON *list = json_add_array(json, "list");
    cr_expect(json_add_whole(list, NULL, INT64_MIN) && json_add_count(list, NULL, ~(Count)0));
    cr_expect(json_add_real(list, NULL, 0.1) && json_add_real(list, NULL, 3) && json_add_real(list, NULL, 1e300));
    cr_expect(json_add_real(list, NULL, NAN) && json_add_real(list, NULL, -INFINITY));
    cr_expect(json_add_bool(json, "on", true) && json_add_bool(json, "off", false) && json_add_text(json, "nil", NULL));
    cr_expect(json_add_text(json, "te\"xt", "\"\\/\b\f\n\r\t\x01\x7F ä \xFF."));
    cr_expect_not_null(json_add_object(json, "empty"));
    cr_expect_not_null(json_add_array(json_add_object(json, "deep"), "none"));
    char *text = printed(json);
    cr_expect_str_eq(text,
                     "{\n"
                     "  \"list\": [\n"
                     "    -9223372036854775808,\n"
                     "    340282366920938463463374607431768211455,\n"
                     "    0.10000000000000001,\n"
                     "    3,\n"
                     "    1.0000000000000001e+300,\n"
                     "    null,\n"
                     "    null\n"
                     "  ],\n"
                     "  \"on\": true,\n"
                     "  \"off\": false,\n"
                     "  \"nil\": null,\n"
                     "  \"te\\\"xt\": \"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u007f ä \xEF\xBF\xBD.\",\n"
                     "  \"empty\": {},\n"
                     "  \"deep\": {\n"
                     "    \"none\": []\n"
                     "  }\n"
                     "}\n",
                     "%s", text);
    free(text);
    cJSON_Delete(json);
}

Test(json, print_and_parse_are_inverse) {
    for (size_t i = 0; i < COUNT_OF(ACCEPTED); i++) {
        cJSON *first = parse_exact(ACCEPTED[i].text, ACCEPTED[i].length, NULL);
        char *text = printed(first);
        cJSON *second = json_parse(text, strlen(text), "printed", NULL);
        cr_expect(cJSON_Compare(first, second, true), "%s: %s", ACCEPTED[i].name, text);
        free(text);
        cJSON_Delete(first);
        cJSON_Delete(second);
    }
}

Test(json, a_full_disk_is_noticed) {
    FILE *full = fopen("/dev/full", "w");
    cJSON *json = cJSON_CreateArray();
    if (full) {
        cr_expect_not(json_print(full, json));
        fclose(full);
    }
    cJSON_Delete(json);
}
