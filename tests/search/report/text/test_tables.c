/* SPDX-License-Identifier: GPL-3.0-or-later */
/* In which words a row of the table says how it differs from plan 1: each knob, each kind of row, the order of roles,
 * what is left of a gap; and a chance as people read it. */
#include "search/report/text/brief_bars.h"
#include "search/report/text/parts.h"
#include "tests/search/report_fixture.h"

#include "base/util.h"

#include <criterion/criterion.h>

static Fixture fixture;

static const char *moves(int rank) {
    static Prose words;
    words = (Prose){0};
    plan_moves(&fixture.report, rank, &words);
    return words.text;
}

static void expect_moves(int rank, const char *expected) {
    const char *words = moves(rank);
    cr_expect_str_eq(words, expected, "%d: %s", rank, words);
}

Test(tables, of_machines_and_batches) {
    fixture_fill(&fixture);
    expect_moves(1, "");
    expect_moves(2, "");
    expect_moves(3, "on 6 x 8x4x4, padded vocab");
    fixture.plans[1].work.sequences = 1500;
    expect_moves(2, "1,500 sequences");
}

/* Plans 1 has microbatches of two in two and ZeRO's first stage; each further knob is said where it is not as usual. */
Test(tables, variants_say_their_knobs) {
    fixture_fill(&fixture);
    Knobs *knobs = &fixture.plans[1].plan.knobs;
    fixture.request.control.variants = true;
    expect_moves(1, "m=2 b=2, zero=1");
    *knobs = (Knobs){.microbatches = 3, .microbatch_sequences = 4, .virtual_stages = 1, .regather = true};
    expect_moves(2, "m=3 b=4");
    knobs->zero_stage = 2;
    knobs->methods.context = CONTEXT_RING;
    knobs->methods.sequence_replicates = knobs->methods.tensor_overlap = true;
    knobs->stages = STAGES_BALANCED;
    knobs->regather = false;
    knobs->offload_optimizer = true;
    expect_moves(2, "m=3 b=4, zero=2, ring, sequence replicates, tensor overlap, balanced stages, weights kept, "
                    "optimizer on host");
    *knobs = (Knobs){.microbatches = 3, .microbatch_sequences = 4, .regather = true, .stages = STAGES_SLOTS};
    knobs->methods.context = CONTEXT_ULYSSES_RING;
    knobs->methods.ulysses = 8;
    char expected[128];
    snprintf(expected, sizeof expected, "m=3 b=4, %s, heads over 8, stages in slots",
             context_method_name(CONTEXT_ULYSSES_RING));
    expect_moves(2, expected);
}

/* tensor, data and fsdp are above 1, in the plan's own order. */
Test(tables, orders_of_roles) {
    fixture_fill(&fixture);
    fixture.request.space.nesting_all = true;
    const Role ORDER[ROLE_COUNT] = {ROLE_DATA, ROLE_EXPERT, ROLE_TENSOR, ROLE_SEQUENCE, ROLE_PIPELINE, ROLE_FSDP};
    memcpy(fixture.plans[0].nesting.order, ORDER, sizeof ORDER);
    expect_moves(1, "from the inside data, tensor, fsdp");
    for (int role = 0; role < ROLE_COUNT; role++) fixture.plans[1].plan.degrees.of[role] = 1;
    expect_moves(2, "");
}

Test(tables, kinds_of_rows) {
    static const struct {
        uint32_t kinds;
        int rank;
        const char *words;
    } ROWS[] = {
        {1u << ROW_FASTEST, 1, ""},
        {1u << ROW_FASTEST, 2, "fastest, within the tie margin"},
        {1u << ROW_WITH_PIPELINE, 2, "fastest with a pipeline"},
        {1u << ROW_WITHOUT_PIPELINE, 2, "fastest without a pipeline"},
        {1u << ROW_HEADROOM | 1u << ROW_USUAL, 2, "15% of HBM left free, fsdp and data alone"},
        {1u << ROW_SUREST, 1, "the lowest risk of those tied with the fastest"},
        {1u << ROW_OF_LAUNCHER, 2, "fastest of maxtext jax"},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        fixture_fill(&fixture);
        fixture.request.space.launchers = 1u << LAUNCHER_MAXTEXT | 1u << LAUNCHER_JAX;
        fixture.plans[ROWS[i].rank - 1].request = &fixture.request;
        fixture.plans[ROWS[i].rank - 1].row_kinds = ROWS[i].kinds;
        expect_moves(ROWS[i].rank, ROWS[i].words);
    }
}

Test(tables, gaps_of_rows) {
    fixture_fill(&fixture);
    fixture.report.result.certificate.proof = PROOF_GAP;
    fixture.plans[1].gap = 0.02;
    expect_moves(1, "");
    expect_moves(2, "gap 2.0%");
    expect_moves(3, "proven, on 6 x 8x4x4, padded vocab");
}

/* Half a per cent is the least that is said as a number; whoever is sure is not told 100%. */
Test(tables, chances) {
    static const struct {
        double chance;
        const char *text;
    } ROWS[] = {{0, "0%"},    {1e-9, "<1%"},  {0.0049, "<1%"},  {0.006, "1%"},
                {0.5, "50%"}, {0.994, "99%"}, {0.9951, ">99%"}, {1, ">99%"}};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        char text[NUMBER_TEXT_SIZE];
        const char *said = chance_text(ROWS[i].chance, text);
        cr_expect_str_eq(said, ROWS[i].text, "%g: %s", ROWS[i].chance, said);
    }
}

/* ---- bars ---- */

/* Beside each other where there is room for both, else one below the other. */
Test(tables, bars_on_narrow_terminals) {
    static const struct {
        int columns;
        bool beside;
    } ROWS[] = {{0, true}, {140, true}, {90, false}};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        char *text = NULL;
        size_t length = 0;
        FILE *memory = open_memstream(&text, &length);
        fixture_fill(&fixture);
        bars_write("A step", &fixture.request, &fixture.plans[0],
                   (TextOut){.file = memory, .terminal = {.columns = ROWS[i].columns}});
        cr_assert_eq(fclose(memory), 0);
        const char *memory_head = strstr(text, "Peak HBM per chip"), *line = strchr(text, '\n');
        cr_assert(memory_head && line);
        cr_expect_eq(memory_head < line, ROWS[i].beside, "%d columns: %s", ROWS[i].columns, text);
        cr_expect(strstr(text, "matmul") && strstr(text, "activations"));
        if (!ROWS[i].beside) cr_expect(memory_head[-1] == '\n' && memory_head[-2] == '\n', "%s", text);
        free(text);
    }
}

/* The short answer's bars stand beside each other on 78 columns, below each other on 77. */
Test(tables, brief_bars_on_narrow_terminals) {
    for (int columns = 77; columns <= 79; columns++) {
        char *text = NULL;
        size_t length = 0;
        FILE *memory = open_memstream(&text, &length);
        fixture_fill(&fixture);
        Parts time, hbm;
        plan_time_parts(&fixture.plans[0], &time);
        plan_memory_parts(&fixture.plans[0], &hbm);
        brief_bars_write(&time, &hbm, 4, (TextOut){.file = memory, .terminal = {.columns = columns}});
        cr_assert_eq(fclose(memory), 0);
        const char *head = strstr(text, "Where HBM goes"), *line = strchr(text, '\n');
        cr_expect_eq(head && head < line, columns >= 78, "%d: %s", columns, text);
        free(text);
    }
}

/* Of parts that are too many the smallest are one row, memory ends with what is free, and what is next to nothing is no
 * part: 50 + 30 + (10 + 5 + 4) of 100, 1 is left. */
Test(tables, parts_of_a_whole) {
    Parts parts = {.title = "HBM", .whole = 100e9, .bytes = true}, none = {.title = "Time", .whole = 1};
    parts_add(&parts, "small", 5e9);
    parts_add(&parts, "large", 50e9);
    parts_add(&parts, "nothing", 1);
    parts_add(&parts, "middle", 30e9);
    parts_add(&parts, "least", 4e9);
    parts_add(&parts, "little", 10e9);
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    brief_bars_write(&none, &parts, 4, (TextOut){.file = memory, .terminal = {.columns = 60}});
    cr_assert_eq(fclose(memory), 0);
    const char *large = strstr(text, "large"), *middle = strstr(text, "middle"), *other = strstr(text, "other"),
               *rest = strstr(text, "free");
    cr_assert(large && middle && other && rest, "%s", text);
    cr_expect(large < middle && middle < other && other < rest, "%s", text);
    cr_expect(strstr(other, "19.0 GB  19%") && strstr(rest, "1.00 GB   1%"), "%s", text);
    cr_expect(!strstr(text, "small") && !strstr(text, "nothing"), "%s", text);
    cr_expect_eq(bar_rows(10), 6);
    cr_expect_eq(bar_rows(20), 3);
    cr_expect_eq(bar_rows(30), 2);
    free(text);
}
