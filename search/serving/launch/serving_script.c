/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/serving/launch/serving_script.h"

#include "base/memory_stream.h"
#include "base/text/prose.h"
#include "base/util.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const ServingReport *report;
    const ServingQuestion *question;
    const ServingPoint *point;
    const Engine *engine;
    WorkerPlaces places;
    EngineRoute route;
    char where[48];
    FILE *out;
} Script;

static const char *const POOL_NAMES[] = {"both", "prompts", "decode"}; /* by EngineRole */

/* Requests in flight that fill the point: of all workers, as many as were requested. */
static int64_t point_in_flight(const ServingQuestion *question, const ServingPoint *point) {
    const ServingPool *pool = &point->pools[point->pool_count - 1];
    int64_t all = pool->batch * pool->workers;
    return question->concurrency > 0 ? question->concurrency : all;
}

/* ---- comments ---- */

static void write_expected(const Script *script) {
    const ServingPoint *point = script->point;
    const ServingAnswer *answer = script->report->answer;
    char tpot[NUMBER_TEXT_SIZE], late[NUMBER_TEXT_SIZE], ttft[NUMBER_TEXT_SIZE];
    FILE *out = script->out;
    fprintf(out, "# Predicted: %s per token", step_text(point->tpot_seconds, tpot));
    if (answer->likely_factor > 1)
        fprintf(out, " (nine in ten below %s)", step_text(point->tpot_seconds * answer->likely_factor, late));
    if (point->ttft_seconds > 0) fprintf(out, ", first token in %s", step_text(point->ttft_seconds, ttft));
    fprintf(out, ".\n# Predicted: %.1f output tokens/s, %.1f per chip, %.1f per user; %.3g requests/s.\n",
            point->tokens_per_second, point->per_chip, point->per_user, point->requests_per_second);
    for (int i = 0; i < point->pool_count; i++) {
        const WorkerMemory *memory = &point->pools[i].memory;
        char weights[NUMBER_TEXT_SIZE], cache[NUMBER_TEXT_SIZE], all[NUMBER_TEXT_SIZE], limit[NUMBER_TEXT_SIZE];
        fprintf(out, "# A device of %s holds %s of weights and %s of cache, %s in all of %s.\n",
                POOL_NAMES[engine_role(point->pools[i].phase)], number_bytes(memory->weights_bytes, weights),
                number_bytes(memory->kv_bytes, cache), number_bytes(worker_memory_total(memory), all),
                number_bytes(memory->limit_bytes, limit));
    }
}

static void write_head(const Script *script) {
    const ServingQuestion *q = script->question;
    char name[PROSE_NAME_SIZE], way[POINT_TEXT_SIZE];
    FILE *out = script->out;
    fprintf(out, "#!/usr/bin/env bash\n# Written by shardopt %s: %s on %s of %s.\n", script->report->version,
            clean_name(q->model.name, name), q->machine.text, q->chip.title);
    fprintf(out, "# %s: %s. Flags as read in %s.\n", script->engine->title, point_notation(script->point, way),
            script->engine->start.read);
    write_expected(script);
    fprintf(out, "#\n"
                 "#   MODEL=FOLDER_OR_NAME bash FILE   starts the workers of this host");
    if (script->places.hosts > 1)
        fprintf(out, ", which NODE_RANK or SLURM_NODEID\n"
                     "#                                    numbers; HOSTS names all of them, in that order");
    fprintf(out, "\n");
    if (script->places.count > 1)
        fprintf(out, "#   bash FILE route                  one address before them, on the first host\n");
    fprintf(out, "#   bash FILE test                   the load that these numbers are of; writes $RESULT\n"
                 "#   bash FILE why                    what shardopt says of it\n"
                 "set -euo pipefail\n\n");
}

/* ---- variables ---- */

static void write_load(const Script *script) {
    const EngineRoute *to = &script->route;
    int64_t load = to->concurrency;
    FILE *out = script->out;
    fprintf(out, "PROMPT=%" PRId64 " OUTPUT=%" PRId64 " # tokens of a request\n", to->prompt, to->output);
    if (load > 0)
        fprintf(out, "LOAD=%" PRId64 " REQUESTS=%" PRId64 " # in flight, and how many the test sends\n", load,
                max_whole(64, 10 * load));
    else
        fprintf(out, "LOAD=%.17g REQUESTS=%" PRId64 " # requests a second, and how many the test sends\n", to->rate,
                max_whole(64, (int64_t)(300 * to->rate)));
    fprintf(out, "FACTS=(%s)\n", to->facts);
}

/* The request, and how to explain the file, which wants neither weights nor hosts. */
static void write_asked(const Script *script) {
    FILE *out = script->out;
    fprintf(out, "ASKED=(");
    for (int i = 0; i < script->report->said_count; i++) {
        const ServingSaid *said = &script->report->said[i];
        fprintf(out, "%s--%s", i > 0 ? " " : "", said->option);
        fputc(' ', out);
        engine_print_quoted(said->value, out);
    }
    fprintf(out, ")\ncase ${1:-} in why) exec shardopt inference \"${ASKED[@]}\" --from-config \"$0\" ;; esac\n\n");
}

static void write_variables(const Script *script) {
    const char *model = script->report->model;
    FILE *out = script->out;
    bool path = strchr(model, '/') != NULL;
    write_asked(script);
    if (path) {
        const char *slash = strrchr(model, '/');
        bool file = strcmp(slash, "/config.json") == 0;
        char folder[4096];
        snprintf(folder, sizeof folder, "%.*s", file ? (int)(slash - model) : (int)strlen(model), model);
        fprintf(out, "[ -n \"${MODEL:-}\" ] || MODEL=");
        engine_print_quoted(folder, out);
        fputc('\n', out);
    } else {
        fprintf(out, ": \"${MODEL:?give the folder or the Hugging Face name of the weights}\"\n");
    }
    if (script->question->speculation.drafts > 0 && !engine_drafts_itself(&script->question->model))
        fprintf(out, ": \"${DRAFT:?give the folder or the Hugging Face name of the draft}\"\n");
    write_load(script);
    fprintf(out,
            "PORT=${PORT:-%d} RESULT=${RESULT:-result.json} NODE_RANK=${NODE_RANK:-${SLURM_NODEID:-0}}\n"
            "read -ra HOSTS <<<\"${HOSTS:-127.0.0.1}\"\n"
            "if ((${#HOSTS[@]} < %" PRId64 ")); then\n"
            "    echo \"HOSTS has ${#HOSTS[@]} names, and %" PRId64 " hosts are used\" >&2\n"
            "    exit 2\n"
            "fi\n"
            "URL=http://${HOSTS[0]}:$PORT\n\n",
            script->engine->start.fixed_port > 0 ? script->engine->start.fixed_port : 8000, script->places.hosts,
            script->places.hosts);
}

static void write_workers(const Script *script) {
    FILE *out = script->out;
    fprintf(out,
            "# One line a worker: its pool, its first host, how many hosts, its devices on each of them.\nWORKERS=(\n");
    for (int64_t i = 0; i < script->places.count; i++) {
        const WorkerPlace *place = &script->places.workers[i];
        fprintf(out, "    '%s %" PRId64 " %" PRId64 " ",
                POOL_NAMES[engine_role(script->point->pools[place->pool].phase)], place->host, place->hosts);
        for (int64_t d = 0; d < place->count; d++) fprintf(out, "%s%" PRId64, d > 0 ? "," : "", place->first + d);
        fprintf(out, "'\n");
    }
    fprintf(out, ")\n\n");
}

/* ---- workers ---- */

/* A line ends before a word that is no value of a flag. */
static void write_words(const EngineWords *words, FILE *out) {
    int column = 4;
    bool after_flag = false;
    for (int i = 0; i < words->count; i++) {
        const EngineWord *word = &words->word[i];
        bool flag = word->kind == WORD_TEXT && strncmp(word->text, "--", 2) == 0;
        int length = (int)strlen(word->kind == WORD_MODEL ? "\"$MODEL\"" : word->text) + 1;
        int value = flag && i + 1 < words->count ? (int)strlen(words->word[i + 1].text) + 3 : 0;
        if (column + length + value > 116 && i > 0 && (flag || !after_flag)) {
            fprintf(out, " \\\n        ");
            column = 8;
        } else if (i > 0) {
            fputc(' ', out);
        }
        engine_print_word(word, out);
        column += length;
        after_flag = flag;
    }
    fputc('\n', out);
}

/* `@GRAPHS@` stands for the largest batch of a device group, for which graphs are captured. */
static void write_settings(const char *settings, int64_t graphs, FILE *out) {
    static const char MARK[] = "@GRAPHS@";
    const char *mark;
    fprintf(out, "    local config\n    config=$(mktemp)\n    cat >\"$config\" <<'YAML'\n");
    while ((mark = strstr(settings, MARK)) != NULL) {
        fprintf(out, "%.*s%" PRId64, (int)(mark - settings), settings, graphs);
        settings = mark + sizeof MARK - 1;
    }
    fprintf(out, "%sYAML\n", settings);
}

static bool write_pool(const Script *script, const ServingPool *pool, Error *error) {
    const WorkerLayout *layout = &pool->on.layout;
    EngineAsk ask = {&script->question->model, &script->question->chip, layout, engine_role(pool->phase)};
    int64_t host = devices_of_host(script->question);
    EnginePlace place = {.role = engine_role(pool->phase),
                         .hosts = divide_up(pool->on.submesh->devices, host),
                         .host_devices = min_whole(pool->on.submesh->devices, host),
                         .longest_prompt = (int64_t)script->question->longest - script->route.output,
                         .shares_host = script->places.count > script->places.hosts};
    EngineWords words = {0};
    char way[POOL_TEXT_SIZE];
    FILE *out = script->out;
    const char *refusal = script->engine->start.cannot ? script->engine->start.cannot(&ask, &place) : NULL;
    if (refusal)
        return error_set(error, ERROR_INPUT, script->where, "%s cannot start %s so: %s", script->engine->title,
                         pool_notation(pool, way), refusal);
    pool_words(script->question, pool, &words);
    script->engine->start.place(&ask, &place, &words);
    if (words.full) return error_set(error, ERROR_INPUT, script->where, "a worker's command is too long");
    int64_t graphs = pool_graphs(script->question, pool);
    fprintf(out, "# %s, %" PRId64 " sequences in flight in each, steps of at most %" PRId64 " tokens.\n%s() {\n",
            pool_notation(pool, way), pool->batch, pool->step_tokens, POOL_NAMES[place.role]);
    fprintf(out,
            "    local worker=$1 node=$2 first=$3 port=$4\n"
            "    local head=${HOSTS[first]} here=${HOSTS[NODE_RANK]} GRAPHS=%" PRId64 "\n",
            graphs);
    if (words.settings[0]) write_settings(words.settings, graphs, out);
    const char *export = words.environment;
    bool runs = strstr(export, "exec ") != NULL; /* the words go on behind it */
    if (export[0]) fprintf(out, "    %s", export);
    fprintf(out, runs ? "" : "    exec ");
    write_words(&words, out);
    fprintf(out, "}\n\n");
    return true;
}

const char *serving_script_worker(const ServingQuestion *question, const ServingPool *pool, FILE *out, Error *error) {
    Script script = {.question = question, .engine = engine_at(pool->on.engine), .out = out, .where = "emit"};
    script.route.output = (int64_t)ceil(question->request.output);
    return write_pool(&script, pool, error) ? POOL_NAMES[engine_role(pool->phase)] : NULL;
}

/* Where the worker i answers. */
static const char *worker_port(const Script *script, char text[32]) {
    int fixed = script->engine->start.fixed_port;
    snprintf(text, 32, "%s", script->places.count > 1 ? "PORT + 1 + i" : "PORT");
    if (fixed > 0) snprintf(text, 32, "%d", fixed);
    return text;
}

static void write_start(const Script *script) {
    bool tpu = !chip_has_domains(&script->question->chip);
    char port[32];
    fprintf(script->out,
            "start() {\n"
            "    local i pool first hosts devices\n"
            "    trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n"
            "    for i in \"${!WORKERS[@]}\"; do\n"
            "        read -r pool first hosts devices <<<\"${WORKERS[i]}\"\n"
            "        ((NODE_RANK >= first && NODE_RANK < first + hosts)) || continue\n"
            "        %s=$devices \"$pool\" \"$i\" \"$((NODE_RANK - first))\" \"$first\" \"$((%s))\" &\n"
            "    done\n"
            "    wait -n # one that ends ends all\n"
            "}\n\n",
            tpu ? "TPU_VISIBLE_CHIPS" : "CUDA_VISIBLE_DEVICES", worker_port(script, port));
}

/* nginx is before copies of an engine that has no program of its own for that. */
static void write_nginx(FILE *out) {
    fprintf(out, "    local config url\n"
                 "    config=$(mktemp)\n"
                 "    {\n"
                 "        printf 'events {}\\nhttp {\\n  upstream copies {\\n    least_conn;\\n'\n"
                 "        for url in \"${URLS[@]}\"; do printf '    server %%s;\\n' \"${url#http://}\"; done\n"
                 "        printf '  }\\n  server {\\n    listen %%s;\\n    location / {\\n' \"$PORT\"\n"
                 "        printf '      proxy_pass http://copies;\\n      proxy_buffering off;\\n'\n"
                 "        printf '      proxy_read_timeout 1h;\\n    }\\n  }\\n}\\n'\n"
                 "    } >\"$config\"\n"
                 "    exec nginx -g 'daemon off;' -c \"$config\"\n");
}

static void write_route(const Script *script) {
    FILE *out = script->out;
    const EngineStart *start = &script->engine->start;
    char port[32];
    fprintf(out,
            "route() {\n"
            "    local i pool first hosts devices url\n"
            "    URLS=() PROMPT_URLS=() PROMPT_WORKERS=() DECODE_URLS=()\n"
            "    for i in \"${!WORKERS[@]}\"; do\n"
            "        read -r pool first hosts devices <<<\"${WORKERS[i]}\"\n"
            "        url=http://${HOSTS[first]}:$((%s))\n"
            "        case $pool in\n"
            "        both) URLS+=(\"$url\") ;;\n"
            "        prompts) PROMPT_URLS+=(\"$url\") PROMPT_WORKERS+=(\"$i\") ;;\n"
            "        decode) DECODE_URLS+=(\"$url\") ;;\n"
            "        esac\n"
            "    done\n",
            worker_port(script, port));
    if (start->nginx && !script->route.two_pools)
        write_nginx(out);
    else
        start->route(&script->route, out);
    fprintf(out, "}\n\n");
}

static void write_ways(const Script *script) {
    FILE *out = script->out;
    fprintf(out, "load() {\n");
    script->engine->start.test(&script->route, out);
    fprintf(out,
            "}\n\n"
            "case ${1:-start} in\n"
            "start) start ;;\n"
            "%s"
            "test) load ;;\n"
            "*)\n"
            "    echo \"$1 is none of start,%s test and why\" >&2\n"
            "    exit 2\n"
            "    ;;\n"
            "esac\n",
            script->places.count > 1 ? "route) route ;;\n" : "", script->places.count > 1 ? " route," : "");
}

/* ---- all of it ---- */

/* What the report of the load test does not know, in the words of a table of measured runs. */
static bool write_facts(const Script *script, FILE *out) {
    const ServingQuestion *q = script->question;
    const ServingPoint *point = script->point;
    const WorkerLayout *layout = &point->pools[point->pool_count - 1].on.layout;
    const char *mode = point->pool_count > 1 ? "disagg" : q->rate > 0 ? "open-loop" : "closed-loop";
    fprintf(out, "model=%s", "");
    engine_print_quoted(q->model.name, out);
    fprintf(out, " chip=%s chips=%" PRId64 " engine=%s mode=%s prec_w=%s prec_kv=%s isl=%.0f osl=%.0f", q->chip.name,
            point->chips_used, script->engine->name, mode, stored_name(layout->weights), stored_name(layout->cache),
            q->request.prompt, q->request.output);
    fprintf(out, " tp=%" PRId64 " pp=%" PRId64 " attn_dp=%" PRId64 " ep=%" PRId64 " moe_tp=%" PRId64, layout->tensor,
            layout->pipeline, layout->attention_data, layout->expert, layout->expert_tensor);
    if (point->pool_count == 1) {
        fprintf(out, " dp=%" PRId64, point->pools[0].workers);
        return true;
    }
    const WorkerLayout *first = &point->pools[0].on.layout;
    fprintf(out,
            " prefill_tp=%" PRId64 " prefill_attn_dp=%" PRId64 " prefill_ep=%" PRId64 " prefill_workers=%" PRId64
            " decode_tp=%" PRId64 " decode_attn_dp=%" PRId64 " decode_ep=%" PRId64 " decode_workers=%" PRId64,
            first->tensor, first->attention_data, first->expert, point->pools[0].workers, layout->tensor,
            layout->attention_data, layout->expert, point->pools[1].workers);
    return true;
}

static bool write_script(Script *script, Error *error) {
    write_head(script);
    write_variables(script);
    write_workers(script);
    for (int i = 0; i < script->point->pool_count; i++)
        if (!write_pool(script, &script->point->pools[i], error)) return false;
    write_start(script);
    if (script->places.count > 1) write_route(script);
    write_ways(script);
    return true;
}

bool serving_script_write(const ServingReport *report, const ServingPoint *point, FILE *out, Error *error) {
    Arena arena = {0};
    char *facts = NULL;
    size_t length = 0;
    const ServingQuestion *question = report->question;
    if (point->pools[0].on.engine == NO_ENGINE ||
        (point->mode != SERVE_AGGREGATED && point->mode != SERVE_DISAGGREGATED))
        return error_set(error, ERROR_INPUT, "emit", "%s; give --engine and --mode of what a server does",
                         point->pools[0].on.engine == NO_ENGINE ? "the point is under no engine's rules"
                                                                : "one phase alone is no server");
    const Engine *engine = engine_at(point->pools[0].on.engine);
    Script script = {.report = report, .question = question, .point = point, .engine = engine, .out = out};
    snprintf(script.where, sizeof script.where, "emit %s", engine->name);
    script.route = (EngineRoute){.two_pools = point->pool_count > 1,
                                 .cached = question->request.cached > 0,
                                 .prompt = (int64_t)ceil(question->request.prompt),
                                 .output = (int64_t)ceil(question->request.output),
                                 .concurrency = question->rate > 0 ? 0 : point_in_flight(question, point),
                                 .rate = question->rate};
    FILE *memory = memory_stream_open(&facts, &length);
    bool ok = memory && write_facts(&script, memory);
    if (memory && fclose(memory) != 0) ok = false;
    script.route.facts = facts;
    if (!ok) error_memory(error);
    ok = ok && workers_place(question, point, script.where, &arena, &script.places, error) &&
         write_script(&script, error);
    free(facts);
    arena_free(&arena);
    return ok;
}
