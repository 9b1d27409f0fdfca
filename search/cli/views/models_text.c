/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The zoo as a table, and one model in full, for people. */
#include "base/number.h"
#include "base/text/table.h"
#include "base/util.h"
#include "search/cli/views/models_view.h"

#include <string.h>

enum { CELL_SIZE = 64 };
typedef struct {
    char text[CELL_SIZE];
} Cell;

static Cell whole_cell(int64_t value) {
    Cell cell;
    snprintf(cell.text, sizeof cell.text, value ? "%lld" : "-", (long long)value);
    return cell;
}

static Cell count_cell(int64_t value) {
    Cell cell;
    char text[NUMBER_TEXT_SIZE];
    snprintf(cell.text, sizeof cell.text, "%s", value ? number_grouped(value, text) : "-");
    return cell;
}

static Cell text_cell(const char *text) {
    Cell cell;
    snprintf(cell.text, sizeof cell.text, "%s", text);
    return cell;
}

static Cell name_cell(const Model *model) { return text_cell(model->name); }
static Cell family_cell(const Model *model) { return text_cell(model->family); }
static Cell parameters_cell(const Model *model) { return count_cell(model_parameters(model).total); }
static Cell layers_cell(const Model *model) { return whole_cell(model->layers); }
static Cell d_model_cell(const Model *model) { return whole_cell(model->d_model); }
static Cell context_cell(const Model *model) { return whole_cell(model->max_seq); }

static Cell active_cell(const Model *model) {
    Parameters p = model_parameters(model);
    return p.active == p.total ? text_cell("all") : count_cell(p.active);
}

/* "gqa 64/8": heads of queries, of keys and values; "mla 128". */
static Cell attention_cell(const Model *model) {
    Cell cell;
    const LayerKind *kind = &model->kinds[0];
    int used = snprintf(cell.text, sizeof cell.text, "%s %lld", models_attention(kind), (long long)kind->heads);
    if (kind->kv_heads != kind->heads && kind->attention != ATTENTION_LATENT)
        snprintf(cell.text + used, sizeof cell.text - (size_t)used, "/%lld", (long long)kind->kv_heads);
    return cell;
}

/* "128 in 18": tokens, and in how many layers where not in all. */
static Cell window_cell(const Model *model) {
    Cell cell;
    int64_t layers, window = models_window(model, &layers);
    if (window == 0) return text_cell("-");
    if (layers == model->layers) return whole_cell(window);
    snprintf(cell.text, sizeof cell.text, "%lld in %lld", (long long)window, (long long)layers);
    return cell;
}

/* "256 top 8 +1": of each token's experts, and with a shared one. */
static Cell experts_cell(const Model *model) {
    Cell cell;
    const LayerKind *kind = models_widest_mixture(model);
    if (kind->experts == 0) return text_cell("-");
    snprintf(cell.text, sizeof cell.text, "%lld top %lld%s", (long long)kind->experts, (long long)kind->top_k,
             kind->d_ff_shared ? " + shared" : "");
    return cell;
}

static Cell distance_cell(int64_t counted, int64_t published) {
    Cell cell;
    if (published == 0) return text_cell("-");
    snprintf(cell.text, sizeof cell.text, "%+.2f", models_distance_percent(counted, published));
    return cell;
}

static Cell published_cell(const Model *model) { return count_cell(model->published_parameters); }

static Cell total_distance_cell(const Model *model) {
    return distance_cell(model_parameters(model).total, model->published_parameters);
}

/* Far ones are marked in the last column, which the line below the table explains. */
static Cell active_distance_cell(const Model *model) {
    Cell cell = distance_cell(model_parameters(model).active, model->published_active_parameters);
    size_t used = strlen(cell.text);
    snprintf(cell.text + used, sizeof cell.text - used, models_is_far(model) ? " *" : "  ");
    return cell;
}

/* The shortest of its other names, which is what one types. */
static Cell alias_cell(const Model *model) {
    const char *shortest = NULL;
    for (int i = 0; i < model->alias_count; i++)
        if (!shortest || strlen(model->aliases[i]) < strlen(shortest)) shortest = model->aliases[i];
    return text_cell(shortest ? shortest : "-");
}

/* `drops`: on a narrow terminal the column goes, the one with 1 first; 0: never. */
static const struct {
    const char *title;
    Cell (*cell)(const Model *model);
    bool left;
    int drops;
} COLUMNS[] = {
    {"name", name_cell, true, 0},
    {"also", alias_cell, true, 9},
    {"family", family_cell, true, 3},
    {"parameters", parameters_cell, false, 0},
    {"active", active_cell, false, 8},
    {"layers", layers_cell, false, 6},
    {"d_model", d_model_cell, false, 4},
    {"attention", attention_cell, true, 7},
    {"window", window_cell, true, 5},
    {"experts", experts_cell, true, 8},
    {"context", context_cell, false, 0},
    {"published", published_cell, false, 2},
    {"off %", total_distance_cell, false, 2},
    {"active off %", active_distance_cell, false, 1},
};
enum { DROPS = 9 };

/* One blank between columns: there are many. */
static bool write_zoo(TextOut out, const Zoo *zoo) {
    Arena arena = {0};
    Table table = table_new(&arena, NULL, NULL);
    table.gap = 1;
    for (size_t i = 0; i < COUNT_OF(COLUMNS); i++) table_column(&table, COLUMNS[i].title, !COLUMNS[i].left);
    for (int m = 0; m < zoo->count; m++)
        for (size_t i = 0; i < COUNT_OF(COLUMNS); i++) table_cell(&table, "%s", COLUMNS[i].cell(&zoo->models[m]).text);
    for (int drop = 1; drop <= DROPS; drop++)
        for (size_t i = 0; i < COUNT_OF(COLUMNS); i++)
            if (COLUMNS[i].drops == drop) table_may_drop(&table, (int)i);
    bool ok = table_write_text(&table, "", out);
    arena_free(&arena);
    return ok;
}

static int family_count(const Zoo *zoo) {
    int families = 0;
    for (int i = 0; i < zoo->count; i++) {
        int first = 0;
        while (strcmp(zoo->models[first].family, zoo->models[i].family) != 0) first++;
        families += first == i;
    }
    return families;
}

/* What the table counts, and where it comes from. */
static void write_summary(FILE *out, const Zoo *zoo) {
    int published = 0, unverified = 0, far = 0, trained = 0;
    for (int i = 0; i < zoo->count; i++) {
        const Model *model = &zoo->models[i];
        published += model->published_parameters > 0;
        unverified += model->published_parameters > 0 && strstr(model->published_source, "unverified");
        far += models_is_far(model);
        trained += model->training.source[0] != '\0';
    }
    int families = family_count(zoo);
    fprintf(out, "\n%d model%s of %d famil%s, %d with public figures of their training.\n", zoo->count,
            zoo->count == 1 ? "" : "s", families, families == 1 ? "y" : "ies", trained);
    fprintf(out, "Counted: all weights with both embeddings, norms, biases and routers, and towers where a file has "
                 "them; no layers for multi-token prediction.\n");
    fprintf(out,
            "off: our count against the published one (%d known, %d of them not checked at their source). * over "
            "%g%% (%d): `shardopt models NAME` says why.\n",
            published, unverified, MODELS_NEAR_PERCENT, far);
    fprintf(out, "Sources: `shardopt models NAME` names those of a model; they stand in models/zoo/NAME.json.\n");
}

bool models_write_table(TextOut out, const Zoo *zoo) {
    if (!write_zoo(out, zoo)) return false;
    write_summary(out.file, zoo);
    return true;
}

static void write_kind(FILE *out, const Model *model, const LayerKind *kind) {
    fprintf(out, "  %lld layers: %s", (long long)kind->count, models_attention(kind));
    if (kind->heads) fprintf(out, ", %lld heads, ", (long long)kind->heads);
    if (kind->heads == 0)
        ;
    else if (kind->attention == ATTENTION_LATENT)
        fprintf(out, "q_lora %lld kv_lora %lld nope %lld rope %lld v %lld", (long long)kind->q_lora_rank,
                (long long)kind->kv_lora_rank, (long long)kind->qk_nope_head_dim, (long long)kind->qk_rope_head_dim,
                (long long)kind->v_head_dim);
    else
        fprintf(out, "%lld kv, head_dim %lld", (long long)kind->kv_heads, (long long)kind->head_dim);
    for (int i = 0; kind->mixer && i < mixer_size_count(kind->mixer); i++)
        fprintf(out, "%s%s %lld", i ? " " : ", ", kind->mixer->sizes[i].key, (long long)kind->sizes[i]);
    if (kind->out_gate) fprintf(out, ", gated by %lld", (long long)kind->out_gate);
    if (kind->index_heads)
        fprintf(out, ", %lld keys chosen by %lld heads of %lld", (long long)kind->index_top_k,
                (long long)kind->index_heads, (long long)kind->index_head_dim);
    else if (kind->index_top_k)
        fprintf(out, ", %lld keys chosen by an earlier layer", (long long)kind->index_top_k);
    if (kind->compress > 1) fprintf(out, ", keys of %lld tokens in one", (long long)kind->compress);
    if (kind->cross_heads) fprintf(out, ", cross attention of %lld heads", (long long)kind->cross_heads);
    if (kind->copies) fprintf(out, ", %lld shared blocks", (long long)kind->copies);
    if (kind->window) fprintf(out, ", %s %lld", kind->chunked ? "chunks of" : "window", (long long)kind->window);
    if (kind->no_rope) fprintf(out, ", not rotary");
    if (kind->sinks) fprintf(out, ", sinks");
    if (kind->d_ff) fprintf(out, ", d_ff %lld", (long long)kind->d_ff);
    if (kind->experts)
        fprintf(out, ", %lld experts of %lld, %lld per token", (long long)kind->experts, (long long)kind->d_ff_expert,
                (long long)kind->top_k);
    if (kind->d_ff_shared) fprintf(out, ", shared %lld", (long long)kind->d_ff_shared);
    if (kind->gated) fprintf(out, ", gated");
    if (kind->parallel_block) fprintf(out, ", attention and MLP in parallel");
    char text[NUMBER_TEXT_SIZE];
    fprintf(out, "; %s parameters each\n", number_grouped(layer_parameters(model, kind).total, text));
}

static void write_tower(FILE *out, const Tower *tower) {
    char text[NUMBER_TEXT_SIZE];
    fprintf(out, "  %s tower %s: %lld layers, width %lld", tower->part == PART_AUDIO ? "audio" : "vision", tower->type,
            (long long)tower->layers, (long long)tower->width);
    if (tower->heads) fprintf(out, ", %lld heads", (long long)tower->heads);
    if (tower->d_ff) fprintf(out, ", d_ff %lld", (long long)tower->d_ff);
    if (tower->patch) fprintf(out, ", patches of %lld", (long long)tower->patch);
    fprintf(out, "; %s parameters\n", number_grouped(tower->parameters, text));
}

static void write_rope(FILE *out, const Model *model) {
    const Rope *rope = &model->rope;
    fprintf(out, "  positions %s", models_positions(model));
    if (rope->theta > 0) {
        fprintf(out, ", theta %.10g", rope->theta);
        if (rope->window_theta > 0) fprintf(out, " (%.10g in layers with a window)", rope->window_theta);
        if (rope->share < 1) fprintf(out, ", %.4g of a head's width", rope->share);
        if (strcmp(rope->type, "default") != 0) fprintf(out, ", %s", rope->type);
        if (rope->factor > 1) fprintf(out, " by %.10g", rope->factor);
        if (rope->original_max_seq) fprintf(out, " from %lld", (long long)rope->original_max_seq);
    }
    fputc('\n', out);
}

static void write_parameters(FILE *out, const Model *model) {
    char text[NUMBER_TEXT_SIZE];
    Parameters parameters = model_parameters(model);
    fprintf(out, "\nparameters\n");
    for (size_t i = 0; i < MODELS_PARTS; i++)
        if (!models_part_is_rare(i) || models_part(&parameters, i))
            fprintf(out, "  %-24s %20s\n", MODELS_PART[i].label, number_grouped(models_part(&parameters, i), text));
    if (model->published_parameters)
        fprintf(out, "  %-24s %20s  %+.2f%% (%s)\n", "published", number_grouped(model->published_parameters, text),
                models_distance_percent(parameters.total, model->published_parameters), model->published_source);
    if (model->published_active_parameters)
        fprintf(out, "  %-24s %20s  %+.2f%%\n", "published, active",
                number_grouped(model->published_active_parameters, text),
                models_distance_percent(parameters.active, model->published_active_parameters));
    if (model->published_note[0]) fprintf(out, "  why: %s\n", model->published_note);
}

static void write_training(FILE *out, const Model *model) {
    const TrainingDefaults *training = &model->training;
    char text[NUMBER_TEXT_SIZE];
    if (!training->source[0]) return;
    fprintf(out, "\ntraining, as published\n");
    if (training->batch_tokens)
        fprintf(out, "  %-24s %20s tokens\n", "batch", number_grouped(training->batch_tokens, text));
    if (training->seq) fprintf(out, "  %-24s %20s\n", "sequence", number_grouped(training->seq, text));
    if (training->tokens > 0) fprintf(out, "  %-24s %20s\n", "tokens", number_grouped((int64_t)training->tokens, text));
    if (training->capacity_factor > 0)
        fprintf(out, "  %-24s %20.4g\n", "expert capacity factor", training->capacity_factor);
    fprintf(out, "  source: %s\n", training->source);
}

void models_write_text(FILE *out, const Model *model) {
    char text[NUMBER_TEXT_SIZE];
    fprintf(out, "%s (%s, %s)\n", model->name, model->family, model->model_type);
    for (int i = 0; i < model->alias_count; i++) fprintf(out, "%s%s", i ? ", " : "also: ", model->aliases[i]);
    fprintf(out, "%ssource: %s\n", model->alias_count ? "\n" : "", model->source);
    if (model->left_out[0]) fprintf(out, "left out: %s\n", model->left_out);
    if (model->odd[0]) fprintf(out, "odd: %s\n", model->odd);
    if (model->stored_as[0]) fprintf(out, "stored as: %s\n", model->stored_as);
    fprintf(out, "\ndimensions\n  d_model %lld, vocabulary %lld%s, longest sequence %lld\n", (long long)model->d_model,
            (long long)model->vocab, model->tied ? " (tied)" : "", (long long)model->max_seq);
    write_rope(out, model);
    for (int i = 0; i < model->kind_count; i++) write_kind(out, model, &model->kinds[i]);
    for (int i = 0; i < model->tower_count; i++) write_tower(out, &model->towers[i]);
    write_parameters(out, model);
    fprintf(out, "\ntraining FLOPs per token at sequence %s\n", number_grouped(models_usual_seq(model), text));
    for (size_t i = 0; i < MODELS_CONVENTIONS; i++)
        fprintf(out, "  %-24s %20.6e\n", MODELS_CONVENTION[i].label,
                model_flops_per_token(model, MODELS_CONVENTION[i].convention, models_usual_seq(model)));
    write_training(out, model);
}
