/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranks beside each other, by hand: a collective moves its bytes as long as the shortest of its kernels lasts; whoever
 * came first waited the rest of it for who came last. */
#include "cost/trace/rank_trace.h"

#include "base/util.h"

#include <criterion/criterion.h>

enum { RANKS = 3, MOST = 8 };
static CollectiveInstance instances[RANKS][MOST];
static RankTrace ranks[RANKS];
static RankMatch match;
static Arena arena;

static void make(void) {
    for (int r = 0; r < RANKS; r++) ranks[r] = (RankTrace){.instances = instances[r]};
}

/* A collective in microseconds of the rank's own clock. */
static void add(int rank, uint64_t key, int64_t ordinal, int64_t start, int64_t end, TraceTerm term,
                CollectiveKind kind) {
    CollectiveInstance *own = &instances[rank][ranks[rank].instance_count++];
    *own = (CollectiveInstance){key, ordinal, 1000 * start, 1000 * end, (uint8_t)term, (uint8_t)kind};
}

static void find(int count) {
    Error error = {0};
    cr_assert(ranks_match(ranks, count, &arena, &match, &error), "%s", error.text);
}

TestSuite(ranks, .init = make);

/* Rank 2's clock is 5 ms ahead. Of the first collective rank 0 comes at 100, rank 1 at 130 and rank 2 at 160, and all
 * end at 200: it takes 40 us; of the second rank 0 comes last by 10 us and it takes 20. */
static void two_collectives(void) {
    static const int64_t STARTS[2][RANKS] = {{100, 130, 160}, {310, 300, 300}}, ENDS[2] = {200, 330};
    for (int r = 0; r < RANKS; r++)
        for (int c = 0; c < 2; c++)
            add(r, 7, c, STARTS[c][r] + (r == 2 ? 5000 : 0), ENDS[c] + (r == 2 ? 5000 : 0),
                c == 0 ? TERM_FSDP : TERM_TENSOR, COLLECTIVE_KIND_ALL_GATHER);
}

Test(ranks, who_waits_and_who_is_waited_for) {
    two_collectives();
    find(RANKS);
    cr_assert(match.known, "%s", match.why_not);
    cr_expect_eq(match.matched, 2);
    cr_expect_float_eq(match.transfer[TERM_FSDP], 40e-6, 1e-12);
    cr_expect_float_eq(match.lasted[TERM_FSDP], (100 + 70 + 40) / 3. * 1e-6, 1e-12);
    cr_expect_float_eq(match.transfer[TERM_TENSOR], 20e-6, 1e-12);
    cr_expect_float_eq(match.lasted[TERM_TENSOR], (20 + 30 + 30) / 3. * 1e-6, 1e-12);
    static const double WAITED[RANKS] = {60, 30 + 10, 10}, CAUSED[RANKS] = {10, 30, 60};
    for (int r = 0; r < RANKS; r++) {
        cr_expect_float_eq(match.waited[r], WAITED[r] * 1e-6, 1e-12, "%d: %g", r, match.waited[r]);
        cr_expect_float_eq(match.caused[r], CAUSED[r] * 1e-6, 1e-12, "%d: %g", r, match.caused[r]);
    }
    cr_expect_eq(match.straggler, 2);
    cr_expect_float_eq(match.end_median, 0, 1e-12);
    cr_expect_float_eq(match.end_most, 0, 1e-12);
}

/* Of two that caused as much the first; none, where nobody waited. */
Test(ranks, stragglers) {
    for (int r = 0; r < 2; r++) {
        add(r, 7, 0, r == 0 ? 0 : 10, 50, TERM_DATA, COLLECTIVE_KIND_ALL_REDUCE);
        add(r, 7, 1, r == 0 ? 110 : 100, 150, TERM_DATA, COLLECTIVE_KIND_ALL_REDUCE);
    }
    find(2);
    cr_expect(match.known && match.straggler == 0);
    make();
    for (int r = 0; r < 2; r++) add(r, 7, 0, 0, 50, TERM_DATA, COLLECTIVE_KIND_ALL_REDUCE);
    find(2);
    cr_expect(match.known && match.straggler == -1);
}

/* What tells nothing: one rank, none, messages and broadcasts, what one rank has once more than another, ends that lie
 * more than 100 us apart however the clocks are set. */
Test(ranks, what_tells_nothing) {
    two_collectives();
    find(1);
    cr_expect(!match.known && match.matched == 0);
    make();
    find(2);
    cr_expect_not(match.known);
    cr_expect_str_eq(match.why_not, "the ranks have no collectives");
    for (int r = 0; r < 2; r++) {
        add(r, 1, 0, 0, 10, TERM_PIPELINE, COLLECTIVE_KIND_SEND_RECV);
        add(r, 2, 0, 0, 10, TERM_DATA, COLLECTIVE_KIND_BROADCAST);
        for (int i = 0; i <= r; i++) add(r, 3, i, 20 + 10 * i, 30 + 10 * i, TERM_DATA, COLLECTIVE_KIND_ALL_GATHER);
    }
    add(0, 4, 0, 50, 60, TERM_DATA, COLLECTIVE_KIND_ALL_GATHER);
    find(2);
    cr_expect_not(match.known);
    cr_expect_str_eq(match.why_not, "the ranks have no collectives in common, one for one");
}

/* What one rank has more of is left out, and what stands behind it is not. */
Test(ranks, what_is_uneven_is_left_out) {
    for (int r = 0; r < 2; r++) {
        for (int i = 0; i <= r; i++) add(r, 3, i, 20 + 10 * i, 30 + 10 * i, TERM_DATA, COLLECTIVE_KIND_ALL_GATHER);
        add(r, 5, 0, 100 + 10 * r, 150, TERM_FSDP, COLLECTIVE_KIND_ALL_GATHER);
    }
    find(2);
    cr_assert(match.known);
    cr_expect_eq(match.matched, 1);
    cr_expect_float_eq(match.transfer[TERM_FSDP], 40e-6, 1e-12);
    cr_expect_eq(match.transfer[TERM_DATA], 0);
    cr_expect_eq(match.straggler, 1);
}

/* Ends that stay apart by 90 us are believed, by 120 us not: three collectives that end 0, 0 and so much later on the
 * second rank have their median at 0; with two of three late it is the other way about. */
Test(ranks, clocks) {
    for (int far = 0; far < 2; far++) {
        int64_t apart = far ? 120 : 90;
        make();
        for (int c = 0; c < 4; c++)
            for (int r = 0; r < 2; r++)
                add(r, 7, c, 1000 * c, 1000 * c + 500 + (r == 1 && c % 2 ? apart : 0), TERM_DATA,
                    COLLECTIVE_KIND_ALL_GATHER);
        find(2);
        cr_expect_eq(match.known, !far, "%d", far);
        cr_expect_float_eq(match.end_median, 1e-6 * (double)apart, 1e-12, "%g", match.end_median);
        cr_expect_float_eq(match.end_most, 1e-6 * (double)apart, 1e-12, "%g", match.end_most);
    }
}

/* ---- messages of a pipeline ---- */

/* Messages of 1 MB take 100 us on rank 1 and at the least 300 us on rank 0, which waited 200 us in each of two; those
 * of 2 MB take 120 and 100 us, which is no wait (less than a quarter more). A step of rank 0 has 800 us of messages,
 * of which 400 are seen. */
Test(ranks, messages) {
    ranks[0].messages = (MessageSizes){{1e6, 2e6}, {300000, 120000}, 2};
    ranks[0].message_count[0] = 2, ranks[0].message_seconds[0] = 600e-6;
    ranks[0].message_count[1] = 1, ranks[0].message_seconds[1] = 120e-6;
    ranks[0].length[TERM_PIPELINE] = 800e-6, ranks[0].exposed[TERM_PIPELINE] = 400e-6;
    ranks[0].exposed[TERM_BUBBLE] = 50e-6;
    ranks[1].messages = (MessageSizes){{2e6, 1e6}, {100000, 100000}, 2};
    ranks[1].length[TERM_PIPELINE] = ranks[1].exposed[TERM_PIPELINE] = 200e-6;
    ranks_settle_messages(ranks, 2);
    cr_expect_float_eq(ranks[0].length[TERM_PIPELINE], 400e-6, 1e-12, "%g", ranks[0].length[TERM_PIPELINE]);
    cr_expect_float_eq(ranks[0].exposed[TERM_PIPELINE], 200e-6, 1e-12);
    cr_expect_float_eq(ranks[0].exposed[TERM_BUBBLE], 250e-6, 1e-12);
    cr_expect_float_eq(ranks[1].length[TERM_PIPELINE], 200e-6, 1e-15);
    cr_expect_float_eq(ranks[1].exposed[TERM_BUBBLE], 0, 1e-15);
}
