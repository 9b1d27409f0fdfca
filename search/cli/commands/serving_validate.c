/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt validate` of a table of serving runs, told by its columns. */
#include "search/cli/commands/kinds.h"
#include "search/cli/views/serving_validate_view.h"

#include <stdlib.h>
#include <string.h>

static bool matches(const char *const *names, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return true;
    return count == 0;
}

static bool replay_all(const ValidateOptions *options, const ServingRuns *runs, ServingReplay *with,
                       ServingValidateView *view, ServingScore *score, Error *error) {
    ServingOutcome *outcomes = ARENA_NEW(with->arena, ServingOutcome, (size_t)runs->count + 1);
    int64_t count = 0;
    if (!outcomes) return error_memory(error);
    for (int64_t i = 0; i < runs->count; i++) {
        const ServingRun *run = &runs->runs[i];
        if (!matches(options->filter.chips, options->filter.chip_count, run->chip) ||
            !matches(options->filter.sources, options->filter.source_count, run->source))
            continue;
        if (!serving_replay(with, run, &outcomes[count++], error)) return false;
    }
    if (count == 0) return error_set(error, ERROR_INPUT, options->path, "no run is both of --source and of --chip");
    view->outcomes = outcomes;
    view->score = score;
    return serving_score(outcomes, count, with->arena, score, error);
}

static bool write_view(const ValidateOptions *options, const ServingValidateView *view, Streams streams, Error *error) {
    if (options->format == VALIDATE_HTML)
        return error_set(error, ERROR_INPUT, "--format", "html is of training runs; give text, json or markdown");
    Draft draft;
    if (!draft_open(&draft, error)) return false;
    TextOut out = {draft.file, output_terminal(streams, options->output)};
    bool ok = options->format == VALIDATE_JSON       ? serving_validate_json(out, view, error)
              : options->format == VALIDATE_MARKDOWN ? serving_validate_markdown(out, view, error)
                                                     : serving_validate_text(out, view, error);
    return draft_write(&draft, ok, streams.out, options->output, error);
}

bool serving_validate(const ValidateOptions *options, Arena *arena, Streams streams, int *code, Error *error) {
    ServingRuns runs;
    ServingScore score;
    ServingReplay with = {.arena = arena};
    ServingValidateView view = {.path = options->path, .profile = options->profile ? options->profile : "default"};
    cJSON *profile = serving_profile_open(view.profile, arena, &with.where, error);
    with.profile = profile;
    bool ok = profile && serving_runs_load(options->path, options->facts, arena, &runs, error) &&
              replay_all(options, &runs, &with, &view, &score, error) && write_view(options, &view, streams, error);
    cJSON_Delete(profile);
    if (ok) *code = EXIT_DONE;
    return ok;
}
