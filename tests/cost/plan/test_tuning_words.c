/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words of matrices and formats, with what they mean in bits; lists of them. */
#include "base/util.h"
#include "cost/plan/tuning.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* Bits of a number: four and an 8-bit scale for 64, with an fp32 one for 256 of these (QLoRA, section 3: 0.127 bits);
 * or an fp32 scale for 64 (0.5); GPTQ's groups of 128 with a scale of 16 and a zero of 4. */
Test(tuning_words, formats) {
    static const struct {
        double bits;
        const char *words[8];
    } ROWS[] = {{4 + 8 / 64. + 32 / (64. * 256), {"nf4", "NF4", "4bit", "4-bit", "nf4-dq", "bnb-nf4", "double"}},
                {4 + 32 / 64., {"nf4-single", "nf4-sq", "bnb.nf4"}},
                {8, {"int8", "8bit", "8-bit", "bnb-int8", "bnb.int8", "Int8"}},
                {4 + (16 + 4) / 128., {"gptq", "gptq-4bit", "awq"}},
                {0, {"", "4", "bit", "4bi", "nf", "fp8", "nf4-d", "8"}}};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++)
        for (int w = 0; w < 8 && ROWS[i].words[w]; w++)
            cr_expect_float_eq(8 * tuning_format_bytes(ROWS[i].words[w]), ROWS[i].bits, 1e-12, "\"%s\": %g",
                               ROWS[i].words[w], 8 * tuning_format_bytes(ROWS[i].words[w]));
}

/* As PEFT has them: a matrix by its name or what stands before its _, or several by a word. */
Test(tuning_words, targets) {
    static const char *const NAMES[TARGET_COUNT] = {"q_proj",    "k_proj",  "v_proj",   "o_proj",
                                                    "gate_proj", "up_proj", "down_proj"};
    static const char *const NONE[] = {"", "q_", "q_p", "qk", "ga", "gate_pro", "proj", "lm_head", "all", "q_proj_"};
    unsigned all = 0;
    for (int i = 0; i < TARGET_COUNT; i++) {
        char head[12];
        snprintf(head, sizeof head, "%.*s", (int)strcspn(NAMES[i], "_"), NAMES[i]);
        cr_expect_str_eq(tuning_target_name((Target)i), NAMES[i]);
        cr_expect_eq(tuning_target_bits(NAMES[i]), 1u << i, "%s", NAMES[i]);
        cr_expect_eq(tuning_target_bits(head), 1u << i, "%s", head);
        all |= 1u << i;
    }
    cr_expect_eq(tuning_target_bits("Q_PROJ"), 1);
    cr_expect_eq(tuning_target_bits("all-linear"), all);
    cr_expect_eq(tuning_target_bits("Attention"), 1 | 2 | 4 | 8, "q k v o");
    cr_expect_eq(tuning_target_bits("mlp"), 16 | 32 | 64, "gate up down");
    for (size_t i = 0; i < COUNT_OF(NONE); i++) cr_expect_eq(tuning_target_bits(NONE[i]), 0, "\"%s\"", NONE[i]);
}

/* Whatever commas and blanks stand between words; a word that is too long is cut to its room, and the next is whole. */
Test(tuning_words, lists) {
    static const struct {
        const char *list, *words[4];
    } ROWS[] = {{"a,b c", {"a", "b", "c"}},      {" , a ,, b, ", {"a", "b"}},      {"", {0}}, {", ,", {0}},
                {"abcdefghij k", {"abcd", "k"}}, {"abcd,abcde,", {"abcd", "abcd"}}};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        const char *at = ROWS[i].list;
        char word[5];
        for (int w = 0; ROWS[i].words[w]; w++) {
            cr_expect(tuning_next_word(&at, word, sizeof word), "\"%s\": %d", ROWS[i].list, w);
            cr_expect_str_eq(word, ROWS[i].words[w], "\"%s\": %s", ROWS[i].list, word);
        }
        cr_expect_not(tuning_next_word(&at, word, sizeof word), "\"%s\" has more: %s", ROWS[i].list, word);
        cr_expect_eq(*at, '\0');
    }
}
