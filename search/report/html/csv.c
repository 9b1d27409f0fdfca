/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plans for a spreadsheet: SI units in the names of the columns, numbers with 17 digits. */
#include "base/escape.h"
#include "search/launch/launcher.h"
#include "search/report/html/write.h"
#include "search/report/text/parts.h"

static void write_text(const char *text, FILE *out) {
    fputc(',', out);
    escape_write(ESCAPE_CSV, text, out);
}

static void write_real(double value, FILE *out) { fprintf(out, ",%.17g", value); }

static void write_head(FILE *out) {
    fputs("rank,model,chip,machine,plan", out);
    for (int role = 0; role < ROLE_COUNT; role++) fprintf(out, ",%s", role_name((Role)role));
    fputs(",chips_used,sequences,seq,microbatches,microbatch_sequences,schedule,virtual_stages,step_seconds,lower_"
          "seconds,"
          "upper_seconds,likely_low_seconds,likely_high_seconds,compute_seconds,exposed_communication_seconds,"
          "bubble_seconds,optimizer_seconds,other_seconds",
          out);
    for (int role = 0; role < ROLE_COUNT; role++) fprintf(out, ",exposed_%s_seconds", role_name((Role)role));
    fputs(",mfu,bound_by", out);
    for (int row = 0; row <= MEMORY_TRANSIENT; row++) fprintf(out, ",%s_bytes", memory_row_name((MemoryRow)row));
    fputs(",memory_bytes,memory_limit_bytes,training_seconds,chip_hours,cost_usd,launchable_by,padding\n", out);
}

static void write_time(const Request *request, const StepTime *time, FILE *out) {
    const Profile *profile = &request->question.profile;
    bool likely = profile->likely_low > 0 && profile->likely_high > 0;
    write_real(time->seconds, out);
    write_real(time->lower_seconds, out);
    write_real(time->serial_seconds, out);
    if (likely) {
        write_real(profile->likely_low * time->seconds, out);
        write_real(profile->likely_high * time->seconds, out);
    } else {
        fputs(",,", out);
    }
    write_real(time->compute_seconds, out);
    write_real(time->exposed_seconds, out);
    write_real(time->bubble_seconds, out);
    write_real(time->optimizer_seconds, out);
    write_real(time->other_seconds, out);
    for (int role = 0; role < ROLE_COUNT; role++) {
        double exposed;
        role_seconds(time, (Role)role, &exposed);
        write_real(exposed, out);
    }
}

static void write_memory(const Estimate *estimate, FILE *out) {
    for (int row = 0; row <= MEMORY_TRANSIENT; row++)
        write_real(memory_row_bytes(&estimate->memory, (MemoryRow)row), out);
    write_real(memory_total(&estimate->memory), out);
    write_real(estimate->memory_limit_bytes, out);
}

static void write_plan(const Request *request, int rank, const RankedPlan *ranked, FILE *out) {
    const Knobs *knobs = &ranked->plan.knobs;
    Training training = training_of(request, ranked);
    char label[WORDS_SIZE];
    fprintf(out, "%d", rank);
    write_text(request->question.model.name, out);
    write_text(request->question.chip.name, out);
    write_text(ranked->machine.text, out);
    write_text(plan_label(ranked, label), out);
    for (int role = 0; role < ROLE_COUNT; role++) fprintf(out, ",%lld", (long long)ranked->plan.degrees.of[role]);
    fprintf(out, ",%lld,%lld,%lld,%lld,%lld,%s,%lld", (long long)ranked->machine.mesh.chips,
            (long long)ranked->work.sequences, (long long)ranked->work.seq, (long long)knobs->microbatches,
            (long long)knobs->microbatch_sequences, schedule_name(knobs->schedule), (long long)knobs->virtual_stages);
    write_time(request, &ranked->estimate.time, out);
    write_real(ranked->estimate.mfu, out);
    fprintf(out, ",%s", bound_name(ranked->estimate.bound_by));
    write_memory(&ranked->estimate, out);
    write_real(training.seconds, out);
    write_real(training.chip_hours, out);
    if (training.usd >= 0)
        write_real(training.usd, out);
    else
        fputc(',', out);
    write_text(ranked->launchable_by ? launchers_text(ranked->launchable_by, " ", label, sizeof label) : "", out);
    write_text(ranked->padding ? padding_text(ranked->padding, label) : "", out);
    fputc('\n', out);
}

bool report_write_csv(const Report *report, FILE *out, Error *error) {
    write_head(out);
    for (int i = 0; i < report->result.plan_count; i++)
        write_plan(report->request, i + 1, &report->result.plans[i], out);
    return !ferror(out) || error_set(error, ERROR_IO, "report", "the table could not be written");
}
