/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A document in a page: nothing of it is markup, and the policy names the page's own style and script. */
#include "base/text/page.h"

#include "base/json.h"
#include "base/sha256.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static char *page_of(const char *text) {
    char *page = NULL;
    size_t length = 0;
    Error error = {0};
    FILE *memory = open_memstream(&page, &length);
    cr_assert(memory && page_write_text(text, memory, &error), "%s", error.text);
    cr_assert_eq(fclose(memory), 0);
    return page;
}

static int occurrences(const char *text, const char *what) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, what)); at += strlen(what)) count++;
    return count;
}

Test(page, document_stays_text) {
    char *page = page_of("{\"name\": \"</script><script>alert(1)</script><!--\"}"), *plain = page_of("{}");
    cr_expect_eq(occurrences(page, "<script"), occurrences(plain, "<script"));
    cr_expect_eq(occurrences(page, "</script"), occurrences(plain, "</script"));
    cr_expect_eq(occurrences(page, "<!--"), occurrences(plain, "<!--"));
    const char *document = strstr(page, "id=\"document\">") + strlen("id=\"document\">");
    Error error = {0};
    cJSON *json = json_parse(document, (size_t)(strstr(document, "</script>") - document), "page", &error);
    cr_assert_not_null(json, "%s", error.text);
    cr_expect_str_eq(json_text_at(json, "name"), "</script><script>alert(1)</script><!--");
    cJSON_Delete(json);
    free(page);
    free(plain);
}

/* Base64 back to hexadecimal digits. */
static void hex_of_base64(const char *text, char hex[65]) {
    static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned bits = 0;
    int have = 0, count = 0;
    for (const char *at = text; *at != '=' && count < 64; at++) {
        bits = (bits << 6 | (unsigned)(strchr(DIGITS, *at) - DIGITS)) & 0xffff;
        for (have += 6; have >= 4 && count < 64; have -= 4) hex[count++] = "0123456789abcdef"[bits >> (have - 4) & 15];
    }
    hex[64] = '\0';
}

Test(page, policy_names_style_and_script) {
    static const struct {
        const char *policy, *begins, *ends;
    } ROWS[] = {{"style-src 'sha256-", "<style>", "</style>"}, {"script-src 'sha256-", "<script>", "</script>"}};
    char *page = page_of("{}");
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        const char *policy = strstr(page, ROWS[i].policy), *begins = strstr(page, ROWS[i].begins);
        cr_assert(policy && begins);
        begins += strlen(ROWS[i].begins);
        char found[SHA256_HEX_SIZE], named[SHA256_HEX_SIZE];
        Sha256 hash = sha256_start();
        sha256_add(&hash, begins, (size_t)(strstr(begins, ROWS[i].ends) - begins));
        sha256_hex(&hash, found);
        hex_of_base64(policy + strlen(ROWS[i].policy), named);
        cr_expect_str_eq(found, named, "%s", ROWS[i].begins);
    }
    cr_expect_null(strstr(page, "http-equiv=\"refresh"));
    cr_expect_null(strstr(page, " src="), "it loads nothing");
    free(page);
}
