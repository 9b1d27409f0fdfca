/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of fine-tuning: what they come to on eight GPUs, and what is wrong. */
#include "search/options/tuning_options.h"

#include "base/util.h"
#include "search/cli/commands.h"
#include "search/cli/planning.h"
#include "tests/sanitizer.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const Request *resolve(const char *line, int gpus, Arena *arena, Error *error) {
    char *argv[24], *text = arena_format(arena, "plan --chip h100 --gpus %d --model %s", gpus, line), *next = NULL;
    int argc = 0;
    for (char *word = strtok_r(text, " ", &next); word; word = strtok_r(NULL, " ", &next)) argv[argc++] = word;
    Options options;
    Request *request = ARENA_NEW(arena, Request, 1);
    bool ok = options_parse(argc, argv, &COMMAND_PLAN, arena, &options, error) &&
              request_from_options(&options, arena, request, error);
    return ok ? request : NULL;
}

enum { ATTENTION = 15, LINEAR = 127, ALL = 511, LENGTH = 2048 };

/* llama3-8b takes 8,192 tokens; nobody says more than 2,048. A step has sixteen sequences or more, as many on each GPU,
 * where pairs lie whole. */
Test(tuning_options, as_they_are_typed) {
    static const struct {
        const char *line;
        double rank, bits;
        unsigned targets, frozen;
        int64_t seq, longest;
        double tokens, samples, epochs; /* of a sample */
    } ROWS[] = {
        {"8b --lora", 16, 0, LINEAR, ALL, LENGTH, LENGTH, LENGTH, 1e4, 1},
        {"8b --lora 1", 1, 0, LINEAR, ALL, LENGTH, LENGTH, LENGTH, 1e4, 1},
        {"8b --lora 65536", 65536, 0, LINEAR, ALL, LENGTH, LENGTH, LENGTH, 1e4, 1},
        {"8b --qlora", 16, 4 + .125 + 1 / 512., LINEAR, ALL, LENGTH, LENGTH, LENGTH, 1e4, 1},
        {"8b --qlora int8,32 --targets attention", 32, 8, ATTENTION, ALL, LENGTH, LENGTH, LENGTH, 1e4, 1},
        {"8b --qlora nf4-single --lora 4", 4, 4.5, LINEAR, ALL, LENGTH, LENGTH, LENGTH, 1e4, 1},
        {"8b --lora --targets q,v_proj,down", 16, 0, 1 | 4 | 64, ALL, LENGTH, LENGTH, LENGTH, 1e4, 1},
        {"8b --freeze embedding,norms", 0, 0, 0, 1 | 32, LENGTH, LENGTH, LENGTH, 1e4, 1},
        {"8b --freeze mlp,logits --samples 500 --epochs 2.5", 0, 0, 0, 4 | 64, LENGTH, LENGTH, LENGTH, 500, 2.5},
        {"qwen2.5-vl-7b --freeze vision,projector", 0, 0, 0, 128 | 256, LENGTH, LENGTH, LENGTH, 1e4, 1},
        {"gpt2 --lora --max-length 1000", 16, 0, LINEAR, ALL, 1000, 1000, 1000, 1e4, 1},
        {"gpt2 --lora", 16, 0, LINEAR, ALL, 1024, 1024, 1024, 1e4, 1},
        {"8b --lora --mean-length 300", 16, 0, LINEAR, ALL, LENGTH, LENGTH, 300, 1e4, 1}, /* packed, then */
        {"8b --lora --mean-length 300 --packing padded", 16, 0, LINEAR, ALL, LENGTH, LENGTH, LENGTH, 1e4, 1},
        {"8b --lora --mean-length 300 --packing padding-free", 16, 0, LINEAR, ALL, 300, LENGTH, 300, 1e4, 1},
        {"8b --lora --mean-length 2048 --tokens 4096000", 16, 0, LINEAR, ALL, LENGTH, LENGTH, LENGTH, 2000, 1},
        {"8b --lora --mean-length 500 --tokens 4M --epochs 4", 16, 0, LINEAR, ALL, LENGTH, LENGTH, 500, 2000, 4},
        {"Meta-Llama-3-8B-bf16 --lora", 16, 0, LINEAR, ALL, LENGTH, LENGTH, LENGTH, 1e4, 1},
        {"Meta-Llama-3-8B-Instruct-GPTQ-Int4 --lora", 16, 4 + 20 / 128., LINEAR, ALL, LENGTH, LENGTH, LENGTH, 1e4, 1},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++)
        for (int round = 0; round < 6; round++) {
            static const int GPUS[] = {8, 3, 16};
            Arena arena = {0};
            Error error = {0};
            bool pairs = round % 2;
            int gpus = GPUS[round / 2], each = (1 + pairs) * gpus, sequences = each;
            while (sequences < 16) sequences += each;
            const char *line = arena_format(&arena, "%s%s", ROWS[i].line, pairs ? " --task dpo" : "");
            const Request *request = resolve(line, gpus, &arena, &error);
            cr_expect(request, "%s: %s: %s", line, error.where, error.text);
            if (!request) continue;
            const FineTuning *out = &request->question.tuning;
            cr_expect(out->what.on && out->what.rank == ROWS[i].rank, "%s: rank %g", line, out->what.rank);
            cr_expect_float_eq(8 * out->what.stored_bytes, ROWS[i].bits, 1e-12, "%s: %g", line,
                               8 * out->what.stored_bytes);
            cr_expect_eq(out->what.targets, ROWS[i].targets, "%s: targets %x", line, out->what.targets);
            cr_expect_eq(out->what.frozen, ROWS[i].frozen, "%s: frozen %x", line, out->what.frozen);
            cr_expect(out->seq == ROWS[i].seq && out->longest == ROWS[i].longest, "%s: %lld of %lld", line,
                      (long long)out->seq, (long long)out->longest);
            cr_expect_float_eq(out->sample_tokens, (1 + pairs) * ROWS[i].tokens, 1e-9, "%s: %g", line,
                               out->sample_tokens);
            bool shared = pairs && strstr(line, "--tokens"); /* as many tokens are half as many pairs */
            cr_expect_float_eq(out->samples, ROWS[i].samples / (shared ? 2 : 1), 1e-9, "%s: %g", line, out->samples);
            cr_expect_eq(out->epochs, ROWS[i].epochs, "%s", line);
            cr_expect(out->pairs == pairs && out->sequences == sequences && out->what.references == pairs, "%s", line);
            cr_expect_eq(out->what.reference_model, pairs && ROWS[i].rank == 0, "%s", line);
            arena_free(&arena);
        }
}

/* Samples of 100, 200 and 5,000 tokens, cut where somebody says or the model ends; packed they are their mean. */
Test(tuning_options, lengths_of_a_file) {
    static const struct {
        const char *line;
        int64_t seq, longest;
        double tokens;
    } ROWS[] = {
        {"8b --lora --lengths /proc/self/fd/9", 5000, 5000, 1767},
        {"8b --lora --lengths /proc/self/fd/9 --seq 1000", 1000, 1000, 434},
        {"8b --lora --lengths /proc/self/fd/9 --max-length 150", 150, 150, 134},
        {"gpt2 --lora --lengths /proc/self/fd/9", 1024, 1024, 442},
        {"8b --lora --lengths /proc/self/fd/9 --packing padding-free", 1767, 5000, 1767},
    };
    FILE *file = tmpfile();
    cr_assert(file && fputs("100\n5000\n200\n", file) >= 0 && fflush(file) == 0 && dup2(fileno(file), 9) == 9);
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Arena arena = {0};
        Error error = {0};
        const Request *request = resolve(ROWS[i].line, 8, &arena, &error);
        cr_expect(request, "%s: %s: %s", ROWS[i].line, error.where, error.text);
        const FineTuning *out = request ? &request->question.tuning : NULL;
        cr_expect(out && out->seq == ROWS[i].seq && out->longest == ROWS[i].longest &&
                      out->sample_tokens == ROWS[i].tokens,
                  "%s: %lld of %lld, %g a sample", ROWS[i].line, (long long)(out ? out->seq : 0),
                  (long long)(out ? out->longest : 0), out ? out->sample_tokens : 0);
        arena_free(&arena);
    }
    fclose(file);
}

Test(tuning_options, wrong) {
    static const char *const ROWS[][3] = {
        {"8b --lora 0", "--lora", "is no rank"},
        {"8b --lora 65537", "--lora", "is no rank"},
        {"8b --lora nf4", "--lora", "give 16"},
        {"Meta-Llama-3-8B-FP8 --lora", "--model", "is not trained"},
        {"Meta-Llama-3-8B-Int8 --freeze mlp", "--model", "adapters alone"},
        {"8b --qlora fp8", "--qlora", "no format"},
        {"8b --targets mlp --freeze mlp", "--targets", "give --lora"},
        {"8b --lora --targets x_proj", "--targets", "no matrix"},
        {"8b --lora --targets ,", "--targets", "are none"},
        {"8b --freeze vision", "--freeze", "leave vision out"},
        {"8b --freeze projector", "--freeze", "leave projector out"},
        {"8b --freeze embed", "--freeze", "is no part"},
        {"qwen2.5-vl-7b --freeze embeddings,attention,mlp,experts,router,norms,logits,vision,projector", "--freeze",
         "nothing to train"},
        {"8b --lora --mean-length 2049", "--mean-length", "above the longest"},
        {"8b --lora --seq 100 --max-length 100", "--max-length", "second length"},
        {"8b --lora --samples 0", "--samples", "0"},
        {"8b --lora --samples 10 --tokens 1M", "--tokens", "second size"},
        {"8b --lora --epochs 0", "--epochs", "0"},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Arena arena = {0};
        Error error = {0};
        cr_expect_null(resolve(ROWS[i][0], 8, &arena, &error), "%s", ROWS[i][0]);
        cr_expect(strcmp(error.where, ROWS[i][1]) == 0 && strstr(error.text, ROWS[i][2]), "%s: %s: %s", ROWS[i][0],
                  error.where, error.text);
        arena_free(&arena);
    }
}
