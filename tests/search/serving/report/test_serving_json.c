/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every figure of an answer of `inference` from the others, by its definition: rates from times and batches, dollars
 * from the catalog's price, sums from their parts, names from degrees. CSV has the same figures. */
#include "tests/sanitizer.h"
#include "tests/search/json_of.h"

#include "base/util.h"

static const char *const ASKED[] = {
    "inference --model 8b --chip h100 --nodes 1 --top 60",
    "inference --model 8b --chip v5e --slice 2x4 --speculate 3:0.7 --rate 5/s --top 20",
    "inference --model mixtral-8x7b --chip h100 --nodes 1 --rate 10/s --tpot 30ms --ttft 1s --top 20",
    "inference --model 8b --chip h100 --nodes 1 --concurrency 32 --cached 0.3 --engine any",
    "inference --model gpt-oss-120b --chip v7 --slice 2x2x1 --engine any --precision int8,bf16 --top 60",
    "inference --model deepseek-v3 --chip h200 --nodes 4 --top 60",
};

/* What the points of an answer are asked with. */
typedef struct {
    const char *line;
    const cJSON *request;
    double chips, devices_per_chip, usd_per_chip_hour, board_watts, tokens_per_step;
} Asked;

static double catalog_figure(const char *chip, const char *path) {
    char line[128];
    snprintf(line, sizeof line, "chips %s", chip);
    cJSON *json = json_of(line);
    const cJSON *found = json_at(json, path);
    double figure = found ? found->valuedouble : 0;
    cJSON_Delete(json);
    return figure;
}

/* Drafts that are accepted with a chance of a each, until the first that is not: 1 + a + .. + a^k tokens a step. */
static double tokens_per_step(const cJSON *request) {
    double tokens = 1, power = 1;
    if (!cJSON_HasObjectItem(request, "speculate")) return 1;
    for (int i = 0; i < (int)real_at(request, "speculate.drafts"); i++)
        tokens += power *= real_at(request, "speculate.acceptance");
    return tokens;
}

/* ---- pools ---- */

/* "tensor=4 pipeline=2": the degrees above 1. */
static void pool_words(const cJSON *pool, char *text, size_t size) {
    size_t used = 0;
    double stationary = real_at(pool, "knobs.stationary");
    text[0] = '\0';
    for (const cJSON *axis = json_at(pool, "axes")->child; axis; axis = axis->next)
        if (axis->valuedouble > 1)
            used += (size_t)snprintf(text + used, size - used, "%s%s=%.0f", used ? " " : "", axis->string,
                                     axis->valuedouble);
    if (stationary > 1)
        used += (size_t)snprintf(text + used, size - used, "%sstationary=%.0f", used ? " " : "", stationary);
    if (used == 0) snprintf(text, size, "one chip");
}

static double placed(const cJSON *pool, const char *role) {
    double product = 1;
    for (const cJSON *one = json_at(pool, "placement")->child; one; one = one->next)
        if (strcmp(words_at(one, "role"), role) == 0) product *= real_at(one, "factor");
    return product;
}

static void check_pool(const Asked *asked, const cJSON *pool) {
    static const char *const ROLES[] = {"tensor", "attention_data", "pipeline"};
    static const char *const MEMORY[] = {"weights_bytes", "kv_bytes", "activations_bytes", "workspace_bytes"};
    const cJSON *axes = json_at(pool, "axes"), *memory = json_at(pool, "memory");
    double bytes = 0, experts = real_at(axes, "expert") * real_at(axes, "expert_tensor");
    for (size_t i = 0; i < COUNT_OF(ROLES); i++) cr_expect_eq(placed(pool, ROLES[i]), real_at(axes, ROLES[i]));
    for (size_t i = 0; i < COUNT_OF(MEMORY); i++) bytes += real_at(memory, MEMORY[i]);
    EXPECT_NEAR(bytes, real_at(memory, "total_bytes"), "%s: bytes", asked->line);
    cr_expect_leq(bytes, real_at(memory, "limit_bytes"), "%s", asked->line);
    EXPECT_NEAR(sum_of(json_at(pool, "step.terms_seconds")), real_at(pool, "step.seconds"), "%s: step", asked->line);
    cr_expect(experts == 1 || experts == real_at(axes, "tensor") * real_at(axes, "attention_data"), "%s", asked->line);
}

/* ---- points ---- */

static void check_name(const Asked *asked, const cJSON *point, const cJSON *first, const cJSON *last) {
    char one[192], two[192], name[512];
    pool_words(first, one, sizeof one);
    pool_words(last, two, sizeof two);
    if (first == last)
        snprintf(name, sizeof name, "%.0f x %s, batch %.0f", real_at(first, "workers"), one, real_at(first, "batch"));
    else
        snprintf(name, sizeof name, "prompts %.0f x %s; decode %.0f x %s, batch %.0f", real_at(first, "workers"), one,
                 real_at(last, "workers"), two, real_at(last, "batch"));
    cr_expect_str_eq(words_at(point, "notation"), name, "%s: %s", asked->line, name);
}

/* Each of the sequences in flight gets a token in the time per token; the answers of a request are its output. */
static void check_rates(const Asked *asked, const cJSON *point, const cJSON *last, bool two) {
    double rate = real_at(point, "tokens_per_second"), tpot = real_at(point, "tpot_seconds");
    double flight = real_at(point, "concurrency"), output = real_at(asked->request, "output");
    bool capped = cJSON_HasObjectItem(asked->request, "rate");
    double paid = capped ? real_at(point, "chips_used") : asked->chips;
    EXPECT_NEAR(tpot * asked->tokens_per_step, real_at(last, "step.seconds"), "%s: tpot", asked->line);
    EXPECT_NEAR(tpot * real_at(point, "tokens_per_second_per_user"), 1, "%s: per user", asked->line);
    cr_expect_eq(flight, real_at(last, "workers") * real_at(last, "batch"), "%s", asked->line);
    cr_expect_leq(rate, flight / tpot * (1 + 1e-9), "%s: %s", asked->line, words_at(point, "notation"));
    if (!two && !capped) EXPECT_NEAR(rate, flight / tpot, "%s: rate", asked->line);
    EXPECT_NEAR(rate, real_at(point, "tokens_per_second_per_chip") * paid, "%s: per chip", asked->line);
    EXPECT_NEAR(real_at(point, "input_tokens_per_second") * output, rate * real_at(asked->request, "prompt"),
                "%s: input", asked->line);
    double whole = real_at(point, "requests_per_second") * output;
    cr_expect(near_to(whole, rate) ||
                  (capped && near_to(rate, real_at(asked->request, "rate") * output) && whole >= rate),
              "%s: requests", asked->line);
    if (asked->board_watts > 0)
        EXPECT_NEAR(real_at(point, "joules_per_output_token_at_most") * rate, asked->board_watts * paid, "%s: joules",
                    asked->line);
    if (!(asked->usd_per_chip_hour > 0)) return;
    double usd = real_at(point, "cost_usd_per_million_output_tokens");
    EXPECT_NEAR(usd * rate * 3600, 1e6 * asked->usd_per_chip_hour * paid, "%s: dollars", asked->line);
    EXPECT_NEAR(real_at(point, "cost_usd_per_million_input_tokens") * real_at(asked->request, "prompt"), usd * output,
                "%s: dollars of the input", asked->line);
}

static void check_likely(const Asked *asked, const cJSON *point) {
    double tpot = real_at(point, "tpot_seconds"), high = real_at(point, "likely.tpot_high_seconds");
    EXPECT_NEAR(real_at(point, "likely.tpot_low_seconds") * high, tpot * tpot, "%s: likely", asked->line);
    EXPECT_NEAR(real_at(point, "likely.ttft_high_seconds") * tpot, real_at(point, "ttft_seconds") * high, "%s: likely",
                asked->line);
    cr_expect(high >= tpot && real_at(point, "prefill_load") >= 0 && real_at(point, "prefill_load") <= 1 + 1e-9);
}

static bool holds(const cJSON *list, const cJSON *text) {
    for (const cJSON *item = list->child; item; item = item->next)
        if (strcmp(item->valuestring, text->valuestring) == 0) return true;
    return false;
}

static void check_point(const Asked *asked, const cJSON *point) {
    const cJSON *pools = json_at(point, "pools"), *first = pools->child, *last = first->next ? first->next : first;
    double devices = 0;
    for (const cJSON *pool = first; pool; pool = pool->next) {
        check_pool(asked, pool);
        devices += real_at(pool, "workers") * real_at(pool, "axes.tensor") * real_at(pool, "axes.pipeline") *
                   real_at(pool, "axes.attention_data");
    }
    check_name(asked, point, first, last);
    check_rates(asked, point, last, first != last);
    check_likely(asked, point);
    cr_expect_eq(real_at(point, "chips_used"), ceil(devices / asked->devices_per_chip), "%s", asked->line);
    cr_expect_eq(real_at(point, "chips_used") + real_at(point, "chips_idle"), asked->chips, "%s", asked->line);
    cr_expect_eq(real_at(point, "copies"), real_at(last, "workers"), "%s", asked->line);
    const cJSON *engine = json_at(point, "engine");
    if (cJSON_IsString(engine)) cr_expect(holds(json_at(point, "launchable_by"), engine), "%s", asked->line);
    if (first != last)
        cr_expect_geq(real_at(point, "ttft_seconds"),
                      real_at(point, "transfer_seconds") + real_at(first, "step.seconds"), "%s", asked->line);
}

/* ---- the answer ---- */

/* Ranks from 1; each point has fewer tokens for a user than the one before it, and more for a chip. */
static void check_front(const Asked *asked, const cJSON *front) {
    double rank = 0;
    for (const cJSON *point = front->child; point; point = point->next) {
        cr_expect_eq(real_at(point, "rank"), ++rank);
        check_point(asked, point);
        if (!point->next) break;
        cr_expect_gt(real_at(point, "tokens_per_second_per_user"), real_at(point->next, "tokens_per_second_per_user"));
        cr_expect_lt(real_at(point, "tokens_per_second_per_chip"), real_at(point->next, "tokens_per_second_per_chip"));
    }
    cr_expect_gt(rank, 2, "%s", asked->line);
}

static void check_search(const Asked *asked, const cJSON *search) {
    cr_expect_eq(real_at(search, "points_covered"),
                 real_at(search, "points_evaluated") + sum_of(json_at(search, "points_pruned")), "%s", asked->line);
    cr_expect_leq(sum_of(json_at(search, "layouts_left_out")), real_at(search, "layouts"), "%s", asked->line);
    cr_expect_str_eq(words_at(search, "proof"), "optimal");
}

/* The requests in flight each take their first token's time and that of all others: so many end in a second. */
static int check_published(const Asked *asked, const cJSON *published) {
    int priced = 0;
    for (const cJSON *one = published ? published->child : NULL; one; one = one->next) {
        cr_expect_eq(cJSON_IsTrue(json_at(one, "fits")), real_at(one, "chips") <= asked->chips, "%s", asked->line);
        if (!cJSON_IsNumber(json_at(one, "tpot_seconds"))) continue;
        double output = real_at(asked->request, "output"), chips = real_at(one, "chips");
        double seconds = real_at(one, "ttft_seconds") + (output - 1) * real_at(one, "tpot_seconds");
        cr_expect_float_eq(real_at(one, "tokens_per_second_per_chip") * chips * seconds /
                               (real_at(one, "concurrency") * output),
                           1, 1e-6, "%s", words_at(one, "id"));
        priced++;
    }
    return priced;
}

Test(serving_json, figures_by_their_definitions) {
    int published = 0;
    size_t most = PROBLEMS_SHARE > 1 ? 2 : COUNT_OF(ASKED);
    for (size_t i = 0; i < most; i++) {
        static const char *const ALONE[] = {"best_point", "nearest", "usual"};
        cJSON *json = json_of(ASKED[i]);
        const cJSON *physical = cJSON_GetObjectItem(json, "physical"), *request = json_at(json, "request");
        Asked asked = {.line = ASKED[i], .request = request, .chips = real_at(json, "mesh.chips")};
        asked.devices_per_chip = real_at(json, "mesh.devices") / asked.chips;
        asked.usd_per_chip_hour = catalog_figure(words_at(request, "chip"), "usd_per_chip_hour.value");
        asked.board_watts = catalog_figure(words_at(request, "chip"), "board_watts.value");
        asked.tokens_per_step = tokens_per_step(request);
        check_front(&asked, json_at(json, "front"));
        check_search(&asked, json_at(json, "search"));
        for (size_t k = 0; k < COUNT_OF(ALONE); k++)
            if (cJSON_HasObjectItem(json, ALONE[k])) check_point(&asked, json_at(json, ALONE[k]));
        if (physical) check_front(&asked, json_at(physical, "front"));
        if (physical) check_search(&asked, json_at(physical, "search"));
        published += check_published(&asked, cJSON_GetObjectItem(json, "published"));
        cJSON_Delete(json);
    }
    cr_expect(most < COUNT_OF(ASKED) || published >= 2, "%d", published);
}
