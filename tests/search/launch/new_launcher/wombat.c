/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wombat, a launcher that nobody ever built: all that the program knows of it stands here. It runs fsdp and tensor on
 * GPUs, shards weights again for backward, and nests fsdp innermost, as no other launcher does. */
#include "tests/search/launch/new_launcher/wombat.h"

#include "search/answer/plan_words.h"
#include "search/launch/keys.h"
#include "search/launch/rules.h"

static const char *refuses(const PlanFacts *facts) {
    REFUSE_UNLESS(facts_heads_divide(facts), REFUSES_HEADS);
    REFUSE_UNLESS(facts->pipeline == 1, WOMBAT_REFUSES_STAGES);
    REFUSE_UNLESS(facts->expert * facts->sequence * facts->data == 1 && !facts_folded(facts),
                  "a wombat knows fsdp and tensor alone");
    REFUSE_UNLESS(facts->plan->knobs.regather, "a wombat forgets weights after forward: regather");
    REFUSE_UNLESS(!facts->methods->tensor_overlap, "a wombat does one thing at a time: no tensor_overlap");
    return NULL;
}

static bool offloads_optimizer(const PlanFacts *facts) {
    (void)facts;
    return false;
}

static void remat_rules(RematList *list, const Model *model) {
    (void)model;
    remat_list_add_full(list, 0);
}

/* ---- its file ---- */

static const LaunchKey KEYS[] = {
    KEY_SIZE('w', "wombat_seq", TERM_SEQ),
    KEY_DEGREE('w', "wombat_tensor", ROLE_TENSOR),
    KEY_NUMBER('w', "wombat_sequences", TERM_BATCH, 1, IMPORT_BATCH_MAX, 1),
    KEY_NUMBER('w', "wombat_at_once", TERM_MICRO, 1, IMPORT_BATCH_MAX, 1),
    {NULL},
};

static void write_notes(const LaunchJob *job, EmitNotes *notes) {
    (void)job;
    emit_note(notes, "wombats sleep by day");
}

static bool write_file(const LaunchJob *job, const EmitNotes *notes, FILE *out, Error *error) {
    (void)error;
    emit_header(job, notes, out);
    fprintf(out, "wombat_model: ");
    emit_quoted(job->model->name, out);
    fputc('\n', out);
    LaunchTerms terms = launch_terms(job);
    keys_write(KEYS, "w", &terms, KEYS_YAML, out);
    return true;
}

static bool read_work(ConfigFile *file, ImportedWork *out, Error *error) {
    out->model = config_text(file, "wombat_model", NULL);
    return config_number_text(file, "wombat_seq", &out->seq, error);
}

/* The devices that tensor leaves are fsdp's. */
static bool read_plan(ConfigFile *file, const Request *request, ImportedPlan *plan, Error *error) {
    int64_t *of = plan->degrees.of;
    LaunchTerms terms;
    if (!import_check_gpus(file, request, "Wombat", error) || !keys_read(KEYS, NULL, file, &terms, error)) return false;
    of[ROLE_TENSOR] = terms.of[ROLE_TENSOR];
    if (!import_check_heads(file, request, "wombat_tensor", of[ROLE_TENSOR], true, error) ||
        !import_left_over(file, request, "wombat_tensor", plan, &of[ROLE_FSDP], error) ||
        !import_batch(file, request, "wombat_sequences", terms.of[TERM_BATCH], terms.of[TERM_MICRO], plan, error))
        return false;
    import_knob(plan, KNOB_REGATHER, true);
    import_offload(file, request, false, plan);
    import_overlap(file, request, false, plan);
    snprintf(plan->remat, sizeof plan->remat, "full");
    return true;
}

const Launcher WOMBAT_LAUNCHER = {
    .name = "wombat",
    .nestings = {{.name = "wombat",
                  .order = {{ROLE_FSDP, ROLE_TENSOR, ROLE_SEQUENCE, ROLE_EXPERT, ROLE_DATA, ROLE_PIPELINE}}}},
    .gpus_only = true,
    .refuses = refuses,
    .offloads_optimizer = offloads_optimizer,
    .remat = remat_rules,
    .signs = {"wombat_"},
    .keys = KEYS,
    .import_work = read_work,
    .import_plan = read_plan,
    .formats = {{"wombat", write_file, write_notes, "a YAML file for Wombat"}},
};
