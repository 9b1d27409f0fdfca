/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares the distance between the members of a group with a list of the chips of an axis, one by one. */
#include "base/util.h"
#include "mesh/nesting.h"

#include <criterion/criterion.h>
#include <string.h>

enum { CHIPS_MAX = 729 }; /* six factors of up to 3 */

static uint64_t random_word(uint64_t *state) { /* SplitMix64 */
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static Nesting random_nesting(uint64_t *state) {
    Nesting nesting = nesting_canonical();
    for (int i = ROLE_COUNT - 1; i > 0; i--) {
        int j = (int)(random_word(state) % (uint64_t)(i + 1));
        Role kept = nesting.order[i];
        nesting.order[i] = nesting.order[j], nesting.order[j] = kept;
    }
    return nesting;
}

/* A chip as its coordinate in each role. */
typedef struct {
    int64_t chips;
    int at[CHIPS_MAX][ROLE_COUNT];
} Line;

static void lay_out(const Nesting *nesting, const int32_t factors[ROLE_COUNT], Line *line) {
    line->chips = 1;
    for (int role = 0; role < ROLE_COUNT; role++) line->chips *= factors[role];
    for (int64_t chip = 0; chip < line->chips; chip++) {
        int64_t rest = chip;
        for (int i = 0; i < ROLE_COUNT; i++) {
            Role role = nesting->order[i];
            line->at[chip][role] = (int)(rest % factors[role]);
            rest /= factors[role];
        }
    }
}

/* Chips that differ only in the members' coordinates are one group. */
static bool together(const Line *line, int64_t a, int64_t b, RoleSet members) {
    for (int role = 0; role < ROLE_COUNT; role++)
        if (!(members >> role & 1) && line->at[a][role] != line->at[b][role]) return false;
    return true;
}

/* Every group passes its data from each member to the next along the axis, and back from its last to its first: round
 * the ring when the axis closes after a block that is the whole axis, else the way it came, over the other direction of
 * the same links. Returns the number of groups that the busiest link serves in one direction. */
static int busiest_link(const Line *line, RoleSet members, bool closes) {
    static int busy[CHIPS_MAX];
    int most = 0;
    memset(busy, 0, sizeof busy);
    for (int64_t first = 0; first < line->chips; first++) {
        int64_t last = first;
        bool begins = true;
        for (int64_t chip = 0; chip < line->chips; chip++)
            if (together(line, first, chip, members)) begins = begins && chip >= first, last = max_whole(last, chip);
        if (!begins || last == first) continue;
        for (int64_t link = 0; link < line->chips; link++)
            if (closes || (link >= first && link < last)) most = (int)max_whole(most, ++busy[link]);
    }
    return most;
}

static int64_t group_size(const int32_t factors[ROLE_COUNT], RoleSet members) {
    int64_t size = 1;
    for (int role = 0; role < ROLE_COUNT; role++)
        if (members >> role & 1) size *= factors[role];
    return size;
}

Test(nesting, canonical) {
    Nesting nesting = nesting_canonical();
    static const Role ORDER[ROLE_COUNT] = {ROLE_TENSOR, ROLE_EXPERT, ROLE_SEQUENCE,
                                           ROLE_FSDP,   ROLE_DATA,   ROLE_PIPELINE};
    for (int i = 0; i < ROLE_COUNT; i++) cr_expect_eq(nesting.order[i], ORDER[i], "place %d", i);
}

/* By hand: 2 chips each of tensor, expert, sequence in this order, chip = t + 2 e + 4 s. tensor and sequence together:
 * {0, 1, 4, 5} and {2, 3, 6, 7} interleave, both cross the link from 3 to 4. MaxText nests expert inside tensor: then
 * experts are neighbours and tensor stands 2 apart. */
Test(nesting, by_hand) {
    const int32_t twos[ROLE_COUNT] = {2, 2, 2, 1, 1, 1};
    Nesting plain = nesting_canonical(), maxtext = plain;
    maxtext.order[0] = ROLE_EXPERT, maxtext.order[1] = ROLE_TENSOR;
    const struct {
        const char *name;
        const Nesting *nesting;
        RoleSet members;
        int64_t stride;
    } rows[] = {
        {"tensor: neighbours", &plain, 1u << ROLE_TENSOR, 1},
        {"expert: two apart", &plain, 1u << ROLE_EXPERT, 2},
        {"sequence: four", &plain, 1u << ROLE_SEQUENCE, 4},
        {"expert and sequence", &plain, 1u << ROLE_EXPERT | 1u << ROLE_SEQUENCE, 2},
        {"tensor and sequence interleave", &plain, 1u << ROLE_TENSOR | 1u << ROLE_SEQUENCE, 2},
        {"tensor and a role of one chip", &plain, 1u << ROLE_TENSOR | 1u << ROLE_DATA, 1},
        {"a role of one chip", &plain, 1u << ROLE_DATA, 1},
        {"nobody", &plain, 0, 1},
        {"expert inside tensor: neighbours", &maxtext, 1u << ROLE_EXPERT, 1},
        {"tensor outside expert", &maxtext, 1u << ROLE_TENSOR, 2},
        {"both are innermost either way", &maxtext, 1u << ROLE_TENSOR | 1u << ROLE_EXPERT, 1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int64_t stride = nesting_stride(rows[i].nesting, twos, rows[i].members);
        cr_expect_eq(stride, rows[i].stride, "%s: %d", rows[i].name, (int)stride);
    }
}

/* Random orders, factors and groups: the stride is the number of groups that share the busiest link; a group closes on
 * itself when size x stride is the whole axis, which is the case when its block is. */
Test(nesting, stride_is_groups_on_a_link) {
    static Line line;
    uint64_t state = 1;
    for (int i = 0; i < 1500; i++) {
        Nesting nesting = random_nesting(&state);
        int32_t factors[ROLE_COUNT];
        for (int role = 0; role < ROLE_COUNT; role++) factors[role] = 1 + (int32_t)(random_word(&state) % 3);
        RoleSet members = (RoleSet)(random_word(&state) % (1u << ROLE_COUNT));
        lay_out(&nesting, factors, &line);
        int64_t size = group_size(factors, members), stride = nesting_stride(&nesting, factors, members);
        if (size == 1) {
            cr_expect_eq(stride, 1, "case %d: a group of one", i);
            continue;
        }
        /* The block of a group: from chip 0 to the farthest chip that some group of its block reaches. */
        int64_t farthest = 0;
        for (int64_t chip = 0; chip < line.chips; chip++)
            if (together(&line, 0, chip, members)) farthest = chip;
        int64_t block = size * stride;
        cr_expect(farthest < block && line.chips % block == 0, "case %d: %d chips in blocks of %d", i, (int)line.chips,
                  (int)block);
        cr_expect_eq(busiest_link(&line, members, false), stride, "case %d: a line", i);
        if (block == line.chips) cr_expect_eq(busiest_link(&line, members, true), stride, "case %d: a ring", i);
        /* Every group keeps to one block. */
        for (int64_t a = 0; a < line.chips; a += 1 + a % 7)
            for (int64_t b = 0; b < line.chips; b++)
                if (together(&line, a, b, members))
                    cr_expect_eq(a / block, b / block, "case %d: chips %d and %d", i, (int)a, (int)b);
    }
}
