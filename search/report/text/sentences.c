/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sections of the text report as one line each, for documents that break lines themselves. */
#include "search/report/text/sentences.h"

#include "base/memory_stream.h"
#include "search/report/compare_to_best.h"
#include "search/report/text/parts.h"

#include <stdlib.h>

/* A memory stream's lines as one, blanks single. */
static const char *one_line(FILE *memory, char **text, Arena *arena) {
    char *kept = NULL;
    if (fclose(memory) == 0 && *text) kept = arena_text(arena, *text);
    free(*text);
    if (!kept) return NULL;
    char *to = kept;
    for (const char *from = kept; *from; from++) {
        bool blank = *from == ' ' || *from == '\n';
        if (blank && (to == kept || to[-1] == ' ')) continue;
        *to++ = blank ? ' ' : *from;
    }
    while (to > kept && to[-1] == ' ') to--;
    *to = '\0';
    return kept;
}

static const RankedPlan *first_of(const Report *report) {
    return report->result.plan_count > 0 ? &report->result.plans[0] : NULL;
}

static void write_verdict(const Report *report, TextOut out) { answer_write(report, true, out); }
static void write_confidence(const Report *report, TextOut out) {
    if (first_of(report)) confidence_write(report, true, out);
}
static void write_assumed(const Report *report, TextOut out) { assumed_write(report->request, first_of(report), out); }

const char *sentence_of(const Report *report, Sentence sentence, Arena *arena) {
    static void (*const WRITE[SENTENCE_COUNT])(const Report *report,
                                               TextOut out) = {[SENTENCE_VERDICT] = write_verdict,
                                                               [SENTENCE_CONFIDENCE] = write_confidence,
                                                               [SENTENCE_ASSUMED] = write_assumed,
                                                               [SENTENCE_SEARCHED] = searched_write,
                                                               [SENTENCE_SENSITIVITY] = sensitivities_write};
    char *text = NULL;
    size_t length = 0;
    FILE *memory = memory_stream_open(&text, &length);
    if (!memory) return NULL;
    WRITE[sentence](report, (TextOut){.file = memory});
    return one_line(memory, &text, arena);
}

const char *title_sentence(const Report *report, Arena *arena) {
    const Request *request = report->request;
    char name[PROSE_NAME_SIZE], machine[WORDS_SIZE];
    return arena_format(arena, "%s on %s", clean_name(request->question.model.name, name),
                        machine_text(request, machine));
}
