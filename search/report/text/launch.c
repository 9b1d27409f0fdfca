/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where launchers would put the roles of a plan, in a sentence and in JSON; and the command that writes its file. */
#include "search/report/text/parts.h"

#include "base/json.h"
#include "search/launch/launcher.h"

#include <math.h>
#include <string.h>

/* What its own placement costs compared with the plan's; nothing where they are the same. */
static void add_default(const LaunchAnswer *answer, double seconds, Prose *to) {
    char step[NUMBER_TEXT_SIZE], change[NUMBER_TEXT_SIZE];
    double more = answer->default_seconds / seconds - 1;
    const char *needs = answer->default_needs;
    if (answer->unpriced) {
        prose_add(to, " (%s)", answer->unpriced);
    } else if (needs && answer->kind == LAUNCH_OPTION && strcmp(needs, answer->needs) == 0) {
        prose_add(to, " (it refuses these degrees otherwise)");
    } else if (answer->default_seconds >= 0 && fabs(more) < 0.0005) {
        prose_add(to, " (its default placement%s%s takes the same time)", needs ? ", with " : "", needs ? needs : "");
    } else if (answer->default_seconds >= 0) {
        prose_add(to, " (its default placement%s%s%s takes %s, %s)", needs ? ", with " : "", needs ? needs : "",
                  needs ? "," : "", step_text(answer->default_seconds, step), change_text(more, change));
    }
}

static void add_phrase(const LaunchAnswer *answer, double seconds, Prose *to) {
    switch (answer->kind) {
    case LAUNCH_DEFAULT:
        prose_add(to, "by default");
        if (answer->unpriced) prose_add(to, " (%s)", answer->unpriced);
        return;
    case LAUNCH_OPTION:
    case LAUNCH_DEVICE_ORDER:
        prose_add(to, "with %s", answer->needs);
        break;
    case LAUNCH_IMPOSSIBLE:
        prose_add(to, "cannot use this placement");
        break;
    }
    add_default(answer, seconds, to);
}

static double expressible_seconds(const RankedPlan *ranked, int launcher) {
    for (int i = 0; i < ranked->launch_count; i++)
        if (ranked->launch[i].launcher == launcher) return ranked->launch[i].expressible_seconds;
    return 0;
}

char *launch_text(const RankedPlan *ranked, const char *between, char text[WORDS_SIZE]) {
    LauncherSet otherwise = ranked->launchable_by & ~ranked->exact;
    launchers_text(ranked->exact, between, text, WORDS_SIZE);
    bool other = false;
    for (int i = 0; i < launcher_count(); i++) {
        if (!(otherwise >> i & 1)) continue;
        double expressible = expressible_seconds(ranked, i);
        /* It would lay the plan out better, but under software that is not its own: its own row says what it takes. */
        if (expressible > 0 && expressible < ranked->estimate.time.seconds) continue;
        if (!other && ranked->exact == 0) text[0] = '\0';
        other = true;
        size_t length = strlen(text);
        if (expressible > 0)
            snprintf(text + length, WORDS_SIZE - length, "%s%s%+.1f%%", length > 0 ? between : "", launcher_name(i),
                     100 * (expressible / ranked->estimate.time.seconds - 1));
        else
            snprintf(text + length, WORDS_SIZE - length, "%s%s%s", length > 0 ? between : "", launcher_name(i),
                     expressible < 0 ? "!" : "~");
    }
    for (int i = 0; i < ranked->launch_count; i++) {
        const LaunchAnswer *answer = &ranked->launch[i];
        if (answer->kind != LAUNCH_IMPOSSIBLE || answer->default_seconds < 0) continue;
        if (!other && ranked->exact == 0) text[0] = '\0';
        other = true;
        size_t length = strlen(text);
        snprintf(text + length, WORDS_SIZE - length, "%s%s%+.1f%%", length > 0 ? between : "",
                 launcher_name(answer->launcher), 100 * (answer->default_seconds / ranked->estimate.time.seconds - 1));
    }
    return text;
}

/* Whether two launchers get the same phrase. */
static bool alike(const LaunchAnswer *a, const LaunchAnswer *b, double seconds) {
    Prose first = {0}, second = {0};
    add_phrase(a, seconds, &first);
    add_phrase(b, seconds, &second);
    return strcmp(first.text, second.text) == 0;
}

void launch_write(const char *heading, const RankedPlan *ranked, TextOut out) {
    double seconds = ranked->estimate.time.seconds;
    const LaunchAnswer *launch = ranked->launch;
    Prose line = {0};
    for (int i = 0; i < ranked->launch_count; i++) {
        bool said = false;
        for (int j = 0; j < i; j++) said = said || alike(&launch[i], &launch[j], seconds);
        if (said) continue;
        prose_item(&line, "; ", "%s", launcher_name(launch[i].launcher));
        for (int j = i + 1; j < ranked->launch_count; j++)
            if (alike(&launch[i], &launch[j], seconds)) prose_add(&line, ", %s", launcher_name(launch[j].launcher));
        prose_add(&line, " ");
        add_phrase(&launch[i], seconds, &line);
    }
    if (line.used == 0) return;
    prose_add(&line, ".");
    prose_write(out, heading, "  ", line.text);
}

bool launch_add_json(const RankedPlan *ranked, cJSON *to) {
    cJSON *json = json_add_array(to, "launch");
    bool ok = json != NULL;
    for (int i = 0; i < ranked->launch_count && ok; i++) {
        const LaunchAnswer *answer = &ranked->launch[i];
        cJSON *item = json_add_object(json, NULL);
        ok = json_add_text(item, "launcher", launcher_name(answer->launcher)) &&
             json_add_text(item, "placement", launch_kind_name(answer->kind)) &&
             json_add_text(item, "needs", answer->needs) &&
             (answer->default_seconds >= 0 ? json_add_real(item, "default_seconds", answer->default_seconds)
                                           : json_add_text(item, "default_seconds", NULL)) &&
             (answer->expressible_seconds > 0   ? json_add_real(item, "told_seconds", answer->expressible_seconds)
              : answer->expressible_seconds < 0 ? json_add_text(item, "told_seconds", NULL)
                                                : true) &&
             json_add_text(item, "default_needs", answer->default_needs) &&
             json_add_text(item, "unpriced", answer->unpriced);
    }
    return ok;
}

void emit_command(const Report *report, Prose *to) {
    const Launcher *launcher = launcher_of(report->request);
    const char *words = report->request->requested.words;
    if (!launcher || !launcher->formats[0].name || !words[0]) return;
    const EmitFormat *format = &launcher->formats[0];
    if (report->request->control.by_time)
        prose_add(to, "shardopt plan %s -o report.json && shardopt emit %s --from report.json", words, format->name);
    else
        prose_add(to, "shardopt emit %s %s", format->name, words);
    if (format->file) prose_add(to, " -o %s", format->file);
}
