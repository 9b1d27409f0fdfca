/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dynamo: examples/backends/{vllm,sglang,trtllm}/deploy/v1beta1/disagg*.yaml of github.com/ai-dynamo/dynamo@04521f4
 * (release 1.3.1), whose operator adds addresses and ranks where a worker takes several hosts. llm-d:
 * examples/values-pd.yaml and values-multinode.yaml of github.com/llm-d-incubation/llm-d-modelservice@3051935, whose
 * chart starts a LeaderWorkerSet there. */

#include "base/memory_stream.h"
#include "base/util.h"
#include "search/launch/scheduler.h"
#include "search/serving/launch/serving_script.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *name;
    const ServingReport *report;
    const ServingPoint *point;
    FILE *out;
    Error *error;
} Graph;

/* How Dynamo starts an engine: its module, which is its framework's name too, its image, and what the model and the
 * largest batch for which graphs are captured are called. */
static const struct {
    const Engine *engine;
    const char *module, *image, *model, *graphs;
} DYNAMO[] = {{&ENGINE_VLLM, "vllm", "vllm", "--model", "--max-cudagraph-capture-size"},
              {&ENGINE_SGLANG, "sglang", "sglang", "--model-path", "--cuda-graph-max-bs-decode"},
              {&ENGINE_TENSORRT_LLM, "trtllm", "tensorrtllm", "--model-path", NULL}};

static const char *phase_name(const ServingPool *pool) {
    return pool->phase == PHASE_PROMPTS ? "prefill" : pool->phase == PHASE_DECODES ? "decode" : "worker";
}

static int64_t pool_hosts(const Graph *graph, const ServingPool *pool) {
    return divide_up(pool->on.submesh->devices, devices_of_host(graph->report->question));
}

static void write_limits(const Graph *graph, const ServingPool *pool, int blanks) {
    const ServingQuestion *question = graph->report->question;
    int64_t devices = min_whole(pool->on.submesh->devices, devices_of_host(question));
    fprintf(graph->out, "%*sresources: {limits: {%s: \"%" PRId64 "\"}}\n", blanks, "",
            scheduler_resource(&question->chip), question_chips(question, devices));
}

static void write_head(const Graph *graph, const char *use) {
    char way[POINT_TEXT_SIZE];
    const ServingPoint *point = graph->point;
    fprintf(graph->out,
            "# %s\n# Written by shardopt %s: %s, %s.\n# Predicted: %.1f output tokens/s, %.1f per chip, %.1f per user; "
            "first token in %.3g s.\n",
            use, graph->report->version, point_engine(point), point_notation(point, way), point->tokens_per_second,
            point->per_chip, point->per_user, point->ttft_seconds);
}

/* ---- Dynamo ---- */

static void write_word(const Graph *graph, const char *word) { fprintf(graph->out, "          - '%s'\n", word); }

/* The number of a worker's words that come before its flags: the program and its model. */
static int flags_begin(const EngineWords *words) {
    int i = 0;
    while (words->word[i].kind != WORD_MODEL) i++;
    return i + 1;
}

static void write_arguments(const Graph *graph, const ServingPool *pool, const EngineWords *words, int row) {
    bool vllm = DYNAMO[row].engine == &ENGINE_VLLM, alone = pool->phase == PHASE_BOTH;
    char number[32];
    snprintf(number, sizeof number, "%" PRId64, pool_graphs(graph->report->question, pool));
    fprintf(graph->out, "          args:\n");
    write_word(graph, DYNAMO[row].model);
    write_word(graph, "$(MODEL)");
    for (int i = flags_begin(words); i < words->count && DYNAMO[row].graphs; i++) {
        if (vllm && strcmp(words->word[i].text, "--kv-transfer-config") == 0)
            i++;
        else
            write_word(graph, words->word[i].kind == WORD_DRAFT ? "$(DRAFT)" : words->word[i].text);
    }
    if (DYNAMO[row].graphs && pool->phase != PHASE_PROMPTS)
        write_word(graph, DYNAMO[row].graphs), write_word(graph, number);
    if (!DYNAMO[row].graphs) {
        write_word(graph, "--extra-engine-args");
        fprintf(graph->out, "          - /shardopt/%s.yaml\n", phase_name(pool));
    }
    if (!alone && DYNAMO[row].engine != &ENGINE_SGLANG)
        write_word(graph, "--disaggregation-mode"), write_word(graph, phase_name(pool));
    if (!alone && vllm)
        write_word(graph, "--kv-transfer-config"),
            write_word(graph, "{\"kv_connector\": \"NixlConnector\", \"kv_role\": \"kv_both\"}");
}

/* NAME=value words before the program, as SGLang's have them. */
static void write_environment(const Graph *graph, const EngineWords *words) {
    fprintf(graph->out, "          env:\n          - {name: MODEL, value: *model}\n");
    if (graph->report->question->speculation.drafts > 0)
        fprintf(graph->out, "          - {name: DRAFT, value: DRAFT} # give the draft's name\n");
    for (int i = 1; i < words->count && strcmp(words->word[0].text, "env") == 0; i++) {
        const char *text = words->word[i].text, *equals = strchr(text, '=');
        if (!equals) break;
        fprintf(graph->out, "          - {name: %.*s, value: \"%s\"}\n", (int)(equals - text), text, equals + 1);
    }
}

static void write_component(const Graph *graph, const ServingPool *pool, const EngineWords *words, int row) {
    const char *name = phase_name(pool);
    FILE *out = graph->out;
    fprintf(out, "  - name: %s\n    type: %s\n    replicas: %" PRId64 "\n", name, DYNAMO[row].graphs ? name : "worker",
            pool->workers);
    if (pool_hosts(graph, pool) > 1) fprintf(out, "    multinode: {nodeCount: %" PRId64 "}\n", pool_hosts(graph, pool));
    fprintf(out,
            "    podTemplate:\n      spec:\n        containers:\n        - name: main\n"
            "          image: nvcr.io/nvidia/ai-dynamo/%s-runtime:1.3.1\n"
            "          command: [python3, -m, dynamo.%s]\n",
            DYNAMO[row].image, DYNAMO[row].module);
    write_arguments(graph, pool, words, row);
    write_environment(graph, words);
    write_limits(graph, pool, 10);
    if (!DYNAMO[row].graphs)
        fprintf(out, "          volumeMounts: [{name: engine, mountPath: /shardopt}]\n"
                     "        volumes: [{name: engine, configMap: {name: shardopt-engine}}]\n");
}

/* What trtllm-serve has as options are keys of the same file for Dynamo. */
static void write_engine_file(const Graph *graph, const ServingPool *pool, const EngineWords *words) {
    static const char *const KEYS[][2] = {{"--tp_size", "tensor_parallel_size"},
                                          {"--pp_size", "pipeline_parallel_size"},
                                          {"--ep_size", "moe_expert_parallel_size"}};
    fprintf(graph->out, "  %s.yaml: |\n", phase_name(pool));
    for (int i = flags_begin(words); i + 1 < words->count; i += 2) {
        const char *key = words->word[i].text + strspn(words->word[i].text, "-");
        for (size_t k = 0; k < COUNT_OF(KEYS); k++)
            if (strcmp(words->word[i].text, KEYS[k][0]) == 0) key = KEYS[k][1];
        fprintf(graph->out, "    %s: %s\n", key, words->word[i + 1].text);
    }
    for (const char *line = words->settings; *line; line += strcspn(line, "\n") + 1)
        fprintf(graph->out, "    %.*s\n", (int)strcspn(line, "\n"), line);
}

static bool write_dynamo(const Graph *graph) {
    const Engine *engine = engine_at(graph->point->pools[0].on.engine);
    EngineWords words[2] = {0};
    size_t row = 0;
    while (row < COUNT_OF(DYNAMO) && DYNAMO[row].engine != engine) row++;
    if (row == COUNT_OF(DYNAMO))
        return error_set(graph->error, ERROR_INPUT, "emit dynamo", "does not start %s", engine->title);
    for (int i = 0; i < graph->point->pool_count; i++)
        pool_words(graph->report->question, &graph->point->pools[i], &words[i]);
    write_head(graph, "kubectl apply -f THIS_FILE, where Dynamo's operator is installed; give the model below.");
    if (!DYNAMO[row].graphs) {
        fprintf(graph->out, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shardopt-engine}\ndata:\n");
        for (int i = 0; i < graph->point->pool_count; i++) write_engine_file(graph, &graph->point->pools[i], &words[i]);
        fprintf(graph->out, "---\n");
    }
    fprintf(graph->out,
            "apiVersion: nvidia.com/v1beta1\nkind: DynamoGraphDeployment\nmetadata:\n  name: shardopt\nspec:\n"
            "  backendFramework: %s\n  env:\n  - {name: MODEL, value: &model FOLDER_OR_NAME}\n  components:\n"
            "  - name: Frontend\n    type: frontend\n    replicas: 1\n    podTemplate:\n      spec:\n"
            "        containers: [{name: main, image: 'nvcr.io/nvidia/ai-dynamo/%s-runtime:1.3.1'}]\n",
            DYNAMO[row].module, DYNAMO[row].image);
    for (int i = 0; i < graph->point->pool_count; i++)
        write_component(graph, &graph->point->pools[i], &words[i], (int)row);
    return true;
}

/* ---- llm-d ---- */

/* The script's function of a worker, called with what a LeaderWorkerSet says of the pod. */
static bool write_function(const Graph *graph, const ServingPool *pool, int port) {
    char *text = NULL;
    size_t length;
    FILE *memory = memory_stream_open(&text, &length);
    if (!memory) return error_memory(graph->error);
    const char *name = serving_script_worker(graph->report->question, pool, memory, graph->error);
    bool kept = fclose(memory) == 0 || error_memory(graph->error);
    fprintf(graph->out, "    args:\n    - |\n"
                        "      NODE_RANK=${LWS_WORKER_INDEX:-0} HOSTS=(\"${LWS_LEADER_ADDRESS:-$POD_IP}\")\n"
                        "      HOSTS[NODE_RANK]=$POD_IP\n");
    for (const char *line = text; name && kept && *line; line += strcspn(line, "\n") + 1)
        fprintf(graph->out, "%s%.*s\n", *line == '\n' ? "" : "      ", (int)strcspn(line, "\n"), line);
    if (name) fprintf(graph->out, "      %s 0 \"$NODE_RANK\" 0 %d\n", name, port);
    free(text);
    return name && kept;
}

/* Those that decode answer behind a proxy, at another port. */
static bool write_values(const Graph *graph, const ServingPool *pool) {
    const WorkerLayout *layout = &pool->on.layout;
    int64_t hosts = pool_hosts(graph, pool);
    FILE *out = graph->out;
    bool prompts = pool->phase == PHASE_PROMPTS;
    fprintf(out,
            "%s:\n  create: true\n  replicas: %" PRId64 "\n  parallelism: {tensor: %" PRId64 ", data: %" PRId64
            ", dataLocal: %" PRId64 ", workers: %" PRId64 "}\n  containers:\n  - name: vllm\n"
            "    image: ghcr.io/llm-d/llm-d-cuda:latest\n    modelCommand: custom\n    mountModelVolume: true\n"
            "    command: [bash, -c]\n",
            prompts ? "prefill" : "decode", pool->workers, layout->tensor * layout->pipeline, layout->attention_data,
            max_whole(1, layout->attention_data / hosts), hosts);
    if (!write_function(graph, pool, pool->phase == PHASE_DECODES ? 8200 : 8000)) return false;
    fprintf(out, "    env:\n    - {name: MODEL, value: *model}\n"
                 "    - {name: POD_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}\n");
    write_limits(graph, pool, 4);
    return true;
}

static bool write_llm_d(const Graph *graph) {
    bool several = false;
    for (int i = 0; i < graph->point->pool_count; i++) several |= pool_hosts(graph, &graph->point->pools[i]) > 1;
    write_head(graph, "helm install NAME llm-d-modelservice/llm-d-modelservice -f THIS_FILE; give the model below.");
    const char *resource = scheduler_resource(&graph->report->question->chip);
    fprintf(graph->out,
            "multinode: %s\naccelerator: {type: %.*s}\nmodelArtifacts: {name: &model FOLDER_OR_NAME, size: 1Ti}\n"
            "routing:\n  servicePort: 8000\n  proxy: {enabled: %s, secure: false}\n",
            several ? "true" : "false", (int)strcspn(resource, "."), resource,
            graph->point->pool_count > 1 ? "true" : "false");
    if (graph->point->pool_count == 1) fprintf(graph->out, "prefill: {create: false}\n");
    for (int i = 0; i < graph->point->pool_count; i++)
        if (!write_values(graph, &graph->point->pools[i])) return false;
    return true;
}

static const struct {
    const char *name;
    const Engine *engine; /* NULL: several */
    bool (*write)(const Graph *graph);
} ORCHESTRATORS[] = {{"dynamo", NULL, write_dynamo}, {"llm-d", &ENGINE_VLLM, write_llm_d}};

static size_t number_of(const char *name) {
    size_t i = 0;
    while (i < COUNT_OF(ORCHESTRATORS) && (!name || strcmp(ORCHESTRATORS[i].name, name) != 0)) i++;
    return i;
}

bool serving_graph_known(const char *name) { return number_of(name) < COUNT_OF(ORCHESTRATORS); }

const Engine *serving_graph_engine(const char *name) {
    return serving_graph_known(name) ? ORCHESTRATORS[number_of(name)].engine : NULL;
}

bool serving_graph_write(const char *name, const ServingReport *report, const ServingPoint *point, FILE *out,
                         Error *error) {
    Graph graph = {name, report, point, out, error};
    char where[48];
    snprintf(where, sizeof where, "emit %s", name);
    if (point->pools[0].on.engine == NO_ENGINE || !chip_has_domains(&report->question->chip))
        return error_set(error, ERROR_INPUT, where, "starts engines on hosts of GPUs");
    const Engine *own = serving_graph_engine(name);
    if (own && engine_at(point->pools[0].on.engine) != own)
        return error_set(error, ERROR_INPUT, where, "starts %s alone", own->title);
    Arena arena = {0};
    WorkerPlaces places;
    bool ok = workers_place(report->question, point, where, &arena, &places, error);
    arena_free(&arena);
    return ok && ORCHESTRATORS[number_of(name)].write(&graph);
}
