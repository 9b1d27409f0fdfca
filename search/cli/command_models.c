/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shardopt models [NAME]: the zoo as a table, or one model in full. */
#include "base/json.h"
#include "base/number.h"
#include "base/util.h"
#include "models/model_json.h"
#include "models/parameters.h"
#include "search/cli/command.h"

#include <libsmartcols.h>
#include <popt.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    FlopConvention convention;
    const char *key, *label;
} CONVENTIONS[] = {
    {FLOPS_6N, "6n", "6 N, no attention"},
    {FLOPS_FULL_ATTENTION, "full_attention", "+ full attention"},
    {FLOPS_CAUSAL, "causal", "+ causal attention (MFU)"},
    {FLOPS_HARDWARE, "hardware", "+ full remat (hardware)"},
};

static const struct {
    const char *key, *label;
    size_t offset;
} PARTS[] = {
    {"attention", "attention", offsetof(Parameters, attention)},
    {"mlp", "MLP", offsetof(Parameters, mlp)},
    {"experts", "experts", offsetof(Parameters, experts)},
    {"router", "router", offsetof(Parameters, router)},
    {"embedding", "embedding", offsetof(Parameters, embedding)},
    {"unembedding", "unembedding", offsetof(Parameters, unembedding)},
    {"positions", "positions", offsetof(Parameters, positions)},
    {"norms", "norms", offsetof(Parameters, norms)},
    {"biases", "biases", offsetof(Parameters, biases)},
    {"total", "total", offsetof(Parameters, total)},
    {"active", "active", offsetof(Parameters, active)},
    {"active_matmul", "active, no look-ups (N)", offsetof(Parameters, active_matmul)},
};

static int64_t part(const Parameters *parameters, size_t i) {
    return *(const int64_t *)((const char *)parameters + PARTS[i].offset);
}

static int64_t most_experts(const Model *model) {
    int64_t most = 0;
    for (int i = 0; i < model->kind_count; i++) most = max_whole(most, model->kinds[i].experts);
    return most;
}

/* The sequence the FLOPs are told for: that of the training where it is public. */
static int64_t usual_seq(const Model *model) {
    return model->training.seq ? model->training.seq : min_whole(8192, model->max_seq);
}

static double deviation_percent(int64_t counted, int64_t published) {
    return 100 * ((double)counted / (double)published - 1);
}

/* ---- text ---- */

static const char *const COLUMNS[] = {"name",    "family",     "layers", "d_model",   "heads",      "kv",
                                      "experts", "parameters", "active", "published", "deviation %"};
enum { COLUMN_COUNT = COUNT_OF(COLUMNS), CELL_SIZE = 64 };

static void cells_of(const Model *model, char cells[COLUMN_COUNT][CELL_SIZE]) {
    Parameters parameters = model_parameters(model);
    const int64_t wholes[] = {
        model->layers,       model->d_model,   model->kinds[0].heads, model->kinds[0].kv_heads,
        most_experts(model), parameters.total, parameters.active,     model->published_parameters};
    snprintf(cells[0], CELL_SIZE, "%s", model->name);
    snprintf(cells[1], CELL_SIZE, "%s", model->family);
    for (size_t i = 0; i < COUNT_OF(wholes); i++) {
        char text[NUMBER_TEXT_SIZE];
        bool counts = i >= 5;
        if (wholes[i] == 0)
            snprintf(cells[2 + i], CELL_SIZE, "-");
        else if (counts)
            snprintf(cells[2 + i], CELL_SIZE, "%s", number_grouped(wholes[i], text));
        else
            snprintf(cells[2 + i], CELL_SIZE, "%lld", (long long)wholes[i]);
    }
    if (model->published_parameters)
        snprintf(cells[10], CELL_SIZE, "%+.2f", deviation_percent(parameters.total, model->published_parameters));
    else
        snprintf(cells[10], CELL_SIZE, "-");
}

/* The same table on a terminal and in a file: its width is that of its contents. */
static bool write_table(FILE *out, const Zoo *zoo) {
    bool ok = false;
    char *text = NULL;
    struct libscols_table *table = scols_new_table();
    if (!table) goto done;
    scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        if (!scols_table_new_column(table, COLUMNS[i], 0, i < 2 ? 0 : SCOLS_FL_RIGHT)) goto done;
    for (int m = 0; m < zoo->count; m++) {
        char cells[COLUMN_COUNT][CELL_SIZE];
        struct libscols_line *line = scols_table_new_line(table, NULL);
        if (!line) goto done;
        cells_of(&zoo->models[m], cells);
        for (size_t i = 0; i < COLUMN_COUNT; i++)
            if (scols_line_set_data(line, i, cells[i])) goto done;
    }
    if (scols_print_table_to_string(table, &text)) goto done;
    ok = fputs(text, out) >= 0;
done:
    free(text);
    scols_unref_table(table);
    return ok;
}

static void write_kind(FILE *out, const Model *model, const LayerKind *kind) {
    fprintf(out, "  %lld layers: %lld heads, ", (long long)kind->count, (long long)kind->heads);
    if (kind->attention == ATTENTION_LATENT)
        fprintf(out, "MLA q_lora %lld kv_lora %lld nope %lld rope %lld v %lld", (long long)kind->q_lora_rank,
                (long long)kind->kv_lora_rank, (long long)kind->qk_nope_head_dim, (long long)kind->qk_rope_head_dim,
                (long long)kind->v_head_dim);
    else
        fprintf(out, "%lld kv, head_dim %lld", (long long)kind->kv_heads, (long long)kind->head_dim);
    if (kind->window) fprintf(out, ", %s %lld", kind->chunked ? "chunks of" : "window", (long long)kind->window);
    if (kind->d_ff) fprintf(out, ", d_ff %lld", (long long)kind->d_ff);
    if (kind->experts)
        fprintf(out, ", %lld experts of %lld, %lld per token", (long long)kind->experts, (long long)kind->d_ff_expert,
                (long long)kind->top_k);
    if (kind->d_ff_shared) fprintf(out, ", shared %lld", (long long)kind->d_ff_shared);
    char text[NUMBER_TEXT_SIZE];
    fprintf(out, "%s; %s parameters each\n", kind->gated ? ", gated" : "",
            number_grouped(layer_parameters(model, kind).total, text));
}

static void write_model(FILE *out, const Model *model) {
    char text[NUMBER_TEXT_SIZE];
    Parameters parameters = model_parameters(model);
    fprintf(out, "%s (%s, %s)\n", model->name, model->family, model->model_type);
    for (int i = 0; i < model->alias_count; i++) fprintf(out, "%s%s", i ? ", " : "also: ", model->aliases[i]);
    fprintf(out, "%ssource: %s\n", model->alias_count ? "\n" : "", model->source);
    fprintf(out, "\ndimensions\n  d_model %lld, vocabulary %lld%s, longest sequence %lld\n", (long long)model->d_model,
            (long long)model->vocab, model->tied ? " (tied)" : "", (long long)model->max_seq);
    for (int i = 0; i < model->kind_count; i++) write_kind(out, model, &model->kinds[i]);

    fprintf(out, "\nparameters\n");
    for (size_t i = 0; i < COUNT_OF(PARTS); i++)
        fprintf(out, "  %-24s %20s\n", PARTS[i].label, number_grouped(part(&parameters, i), text));
    if (model->published_parameters)
        fprintf(out, "  %-24s %20s  %+.2f%% (%s)\n", "published", number_grouped(model->published_parameters, text),
                deviation_percent(parameters.total, model->published_parameters), model->published_source);
    if (model->published_active_parameters)
        fprintf(out, "  %-24s %20s  %+.2f%%\n", "published, active",
                number_grouped(model->published_active_parameters, text),
                deviation_percent(parameters.active, model->published_active_parameters));

    fprintf(out, "\ntraining FLOPs per token at sequence %s\n", number_grouped(usual_seq(model), text));
    for (size_t i = 0; i < COUNT_OF(CONVENTIONS); i++)
        fprintf(out, "  %-24s %20.6e\n", CONVENTIONS[i].label,
                model_flops_per_token(model, CONVENTIONS[i].convention, usual_seq(model)));

    const TrainingDefaults *training = &model->training;
    if (!training->source[0]) return;
    fprintf(out, "\ntraining, as published\n");
    if (training->batch_tokens)
        fprintf(out, "  %-24s %20s tokens\n", "batch", number_grouped(training->batch_tokens, text));
    if (training->seq) fprintf(out, "  %-24s %20s\n", "sequence", number_grouped(training->seq, text));
    if (training->tokens > 0) fprintf(out, "  %-24s %20s\n", "tokens", number_grouped((int64_t)training->tokens, text));
    fprintf(out, "  source: %s\n", training->source);
}

/* ---- JSON ---- */

static bool add_known(cJSON *to, const char *key, int64_t value) {
    return value ? json_add_whole(to, key, value) : cJSON_AddNullToObject(to, key) != NULL;
}

static bool add_summary(cJSON *to, const Model *model) {
    Parameters parameters = model_parameters(model);
    const LayerKind *first = &model->kinds[0];
    cJSON *aliases;
    if (!json_add_text(to, "name", model->name) || !(aliases = json_add_array(to, "aliases"))) return false;
    for (int i = 0; i < model->alias_count; i++)
        if (!json_add_text(aliases, NULL, model->aliases[i])) return false;
    return json_add_text(to, "family", model->family) && json_add_text(to, "model_type", model->model_type) &&
           json_add_whole(to, "parameters", parameters.total) &&
           json_add_whole(to, "active_parameters", parameters.active) && json_add_whole(to, "layers", model->layers) &&
           json_add_whole(to, "d_model", model->d_model) && json_add_whole(to, "heads", first->heads) &&
           json_add_whole(to, "kv_heads", first->kv_heads) && json_add_whole(to, "head_dim", first->head_dim) &&
           json_add_whole(to, "d_ff", first->d_ff) && json_add_whole(to, "experts", most_experts(model)) &&
           json_add_whole(to, "vocab", model->vocab) && json_add_whole(to, "max_seq", model->max_seq) &&
           json_add_bool(to, "tied", model->tied) &&
           add_known(to, "published_parameters", model->published_parameters) &&
           add_known(to, "published_active_parameters", model->published_active_parameters) &&
           json_add_text(to, "source", model->source);
}

static bool add_kind(cJSON *to, const Model *model, const LayerKind *kind) {
    const struct {
        const char *key;
        int64_t value;
    } fields[] = {
        {"count", kind->count},
        {"heads", kind->heads},
        {"kv_heads", kind->kv_heads},
        {"head_dim", kind->head_dim},
        {"q_lora_rank", kind->q_lora_rank},
        {"kv_lora_rank", kind->kv_lora_rank},
        {"qk_nope_head_dim", kind->qk_nope_head_dim},
        {"qk_rope_head_dim", kind->qk_rope_head_dim},
        {"v_head_dim", kind->v_head_dim},
        {"window", kind->window},
        {"d_ff", kind->d_ff},
        {"experts", kind->experts},
        {"top_k", kind->top_k},
        {"d_ff_expert", kind->d_ff_expert},
        {"d_ff_shared", kind->d_ff_shared},
        {"parameters", layer_parameters(model, kind).total},
        {"active_parameters", layer_parameters(model, kind).active},
    };
    if (!json_add_text(to, "attention", kind->attention == ATTENTION_LATENT ? "latent" : "heads")) return false;
    for (size_t i = 0; i < COUNT_OF(fields); i++)
        if (!json_add_whole(to, fields[i].key, fields[i].value)) return false;
    return json_add_bool(to, "gated", kind->gated) && json_add_bool(to, "chunked", kind->chunked);
}

static bool add_details(cJSON *to, const Model *model) {
    Parameters parameters = model_parameters(model);
    const TrainingDefaults *training = &model->training;
    cJSON *kinds = json_add_array(to, "kinds"), *child;
    if (!kinds) return false;
    for (int i = 0; i < model->kind_count; i++)
        if (!(child = json_add_object(kinds, NULL)) || !add_kind(child, model, &model->kinds[i])) return false;
    if (!(child = json_add_object(to, "parts"))) return false;
    for (size_t i = 0; i < COUNT_OF(PARTS); i++)
        if (!json_add_whole(child, PARTS[i].key, part(&parameters, i))) return false;
    if (!(child = json_add_object(to, "flops_per_token")) || !json_add_whole(child, "seq", usual_seq(model)))
        return false;
    for (size_t i = 0; i < COUNT_OF(CONVENTIONS); i++) {
        double flops = model_flops_per_token(model, CONVENTIONS[i].convention, usual_seq(model));
        if (!json_add_real(child, CONVENTIONS[i].key, flops)) return false;
    }
    return json_add_text(to, "published_source", model->published_source) &&
           (child = json_add_object(to, "training")) && add_known(child, "batch_tokens", training->batch_tokens) &&
           add_known(child, "seq", training->seq) && add_known(child, "tokens", (int64_t)training->tokens) &&
           json_add_text(child, "source", training->source);
}

/* ---- the command ---- */

typedef struct {
    bool json, help;
    const char *name; /* NULL: list all; belongs to argv */
} Request;

static bool write_json(FILE *out, const Zoo *zoo, const Model *one) {
    cJSON *json = one ? cJSON_CreateObject() : cJSON_CreateArray();
    bool ok = json && (!one || (add_summary(json, one) && add_details(json, one)));
    for (int i = 0; ok && !one && i < zoo->count; i++) {
        cJSON *entry = json_add_object(json, NULL);
        ok = entry && add_summary(entry, &zoo->models[i]);
    }
    ok = ok && json_print(out, json);
    cJSON_Delete(json);
    return ok;
}

static bool write_answer(FILE *out, Request request, Arena *arena, Error *error) {
    Zoo zoo = {0};
    Model model;
    if (request.name && !model_load(request.name, arena, &model, error)) {
        if (strcmp(error->where, "--model") == 0) snprintf(error->where, sizeof error->where, "models");
        return false;
    }
    if (!request.name && !zoo_load(arena, &zoo, error)) return false;
    if (request.json) return write_json(out, &zoo, request.name ? &model : NULL) || error_memory(error);
    if (!request.name) return write_table(out, &zoo) || error_memory(error);
    write_model(out, &model);
    return true;
}

static const struct poptOption OPTIONS[] = {
    {"format", '\0', POPT_ARG_STRING, NULL, 'f', "how the answer is written (text)", "text|json"},
    {"help", 'h', POPT_ARG_NONE, NULL, 'h', "this text", NULL},
    POPT_TABLEEND,
};

static bool read_request(poptContext context, Request *request, Error *error) {
    int option;
    while ((option = poptGetNextOpt(context)) > 0) {
        if (option == 'h') request->help = true;
        if (option != 'f') continue;
        char *format = poptGetOptArg(context);
        bool json = format && strcmp(format, "json") == 0, text = format && strcmp(format, "text") == 0;
        if (!json && !text)
            error_set(error, ERROR_INPUT, "--format", "\"%.60s\" is no format; give text or json",
                      format ? format : "");
        free(format);
        if (!json && !text) return false;
        request->json = json;
    }
    if (option < -1)
        return error_set(error, ERROR_INPUT, poptBadOption(context, 0),
                         "%s; `shardopt models --help` lists the options", poptStrerror(option));
    request->name = poptGetArg(context);
    if (request->name && poptPeekArg(context))
        return error_set(error, ERROR_INPUT, poptPeekArg(context),
                         "is one name too many; give one, or none for the list");
    return true;
}

int command_models(int argc, char **argv, Streams streams, Error *error) {
    Request request = {0};
    Arena arena = {0};
    char *text = NULL;
    size_t length = 0;
    bool ok = false;
    FILE *memory = NULL;
    poptContext context = NULL;
    const char **words = ARENA_NEW(&arena, const char *, (size_t)argc + 1); /* popt's help begins with the first */
    if (words) {
        for (int i = 0; i < argc; i++) words[i] = i ? argv[i] : "shardopt models";
        context = poptGetContext(NULL, argc, words, OPTIONS, 0);
    }
    if (!context || !(memory = open_memstream(&text, &length))) {
        error_memory(error);
        goto done;
    }
    poptSetOtherOptionHelp(context, "[OPTION...] [NAME|config.json|DIR]");
    if (!read_request(context, &request, error)) goto done;
    if (request.help)
        poptPrintHelp(context, memory, 0);
    else if (!write_answer(memory, request, &arena, error))
        goto done;
    bool whole = !ferror(memory);
    whole = fclose(memory) == 0 && whole;
    memory = NULL;
    if (!whole)
        error_memory(error);
    else if (fwrite(text, 1, length, streams.out) != length || fflush(streams.out))
        error_set(error, ERROR_IO, "stdout", "the answer could not be written");
    else
        ok = true;
done:
    if (memory) fclose(memory);
    free(text);
    poptFreeContext(context);
    arena_free(&arena);
    if (ok) return 0;
    return error->kind == ERROR_MEMORY || error->kind == ERROR_INTERNAL ? 70 : 2;
}
