/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/serving/space.h"

#include "base/util.h"
#include "cost/plan/shard.h"
#include "cost/serving/cache.h"

#include <stdlib.h>
#include <string.h>

const char *exclusion_name(Exclusion reason) {
    static const char *const NAMES[EXCLUDED_COUNT] = {"indivisible", "require", "engine", "equal"};
    return NAMES[reason];
}

/* ---- sub-meshes ---- */

static void submesh_make(const Mesh *machine, const int64_t size[MESH_AXES_MAX], int64_t devices_per_chip,
                         SubMesh *out) {
    SubMesh submesh = {.devices = 1, .copies = 1};
    submesh.mesh.fabric = machine->fabric;
    submesh.mesh.fabric.twisted_gain = 0;
    for (int a = 0; a < machine->axis_count; a++) {
        Axis axis = machine->axes[a];
        submesh.size[a] = size[a];
        submesh.devices *= size[a];
        submesh.copies *= axis.size / size[a];
        if (axis.kind == AXIS_RING && size[a] < axis.size) axis.kind = AXIS_LINE;
        axis.size = size[a];
        if (axis.size > 1) submesh.mesh.axes[submesh.mesh.axis_count++] = axis;
    }
    submesh.mesh.devices = submesh.devices;
    submesh.mesh.chips = max_whole(1, submesh.devices / devices_per_chip);
    *out = submesh;
}

static int by_devices(const void *a, const void *b) {
    const SubMesh *x = a, *y = b;
    if (x->devices != y->devices) return x->devices < y->devices ? -1 : 1;
    for (int i = 0; i < MESH_AXES_MAX; i++)
        if (x->size[i] != y->size[i]) return x->size[i] < y->size[i] ? -1 : 1;
    return 0;
}

/* Whether a worker may have this many along the axis: within a domain any number; a worker that goes beyond a domain
 * takes whole ones; a torus axis is cut into equal parts, or taken whole. */
static bool size_wanted(const Mesh *machine, const int64_t size[MESH_AXES_MAX], int axis) {
    const Axis *on = &machine->axes[axis];
    if (on->kind == AXIS_RING || on->kind == AXIS_LINE) return on->size % size[axis] == 0;
    if (!axis_is_across(on) || size[axis] == 1) return true;
    for (int a = 0; a < axis; a++)
        if (size[a] != machine->axes[a].size) return false;
    return true;
}

bool submeshes_enumerate(const ServingQuestion *question, Arena *arena, SubMeshList *out, Error *error) {
    const Mesh *machine = &question->machine.mesh;
    enum { SUBMESHES_MAX = 1 << 16 };
    int64_t size[MESH_AXES_MAX];
    SubMeshList found = {0};
    for (int pass = 0; pass < 2; pass++) {
        found.count = 0;
        for (int a = 0; a < MESH_AXES_MAX; a++) size[a] = 1;
        for (int at = 0; at < machine->axis_count || found.count == 0;) {
            bool wanted = true;
            for (int a = 0; a < machine->axis_count; a++) wanted = wanted && size_wanted(machine, size, a);
            if (wanted && pass == 1)
                submesh_make(machine, size, max_whole(1, question->chip.devices_per_chip), &found.list[found.count]);
            if (wanted) found.count++;
            if (found.count > SUBMESHES_MAX)
                return error_set(error, ERROR_INPUT, "--chips",
                                 "the machine has too many parts to be tried; give fewer "
                                 "chips");
            for (at = 0; at < machine->axis_count; at++) {
                if (++size[at] <= machine->axes[at].size) break;
                size[at] = 1;
            }
            if (machine->axis_count == 0) break;
        }
        if (pass == 0 && !(found.list = ARENA_NEW(arena, SubMesh, (size_t)found.count))) return error_memory(error);
    }
    qsort(found.list, (size_t)found.count, sizeof *found.list, by_devices);
    *out = found;
    return true;
}

/* ---- the search log ---- */

void serving_log_begin(ServingLog *log) {
    fputs("engine\tmode\tphase\tbox\ttensor\tattention_data\tpipeline\texpert\texpert_tensor\tkv_sequence\tkv_batch\t"
          "stationary\tweights\tcache\tplacement\twhat\tlow\thigh\tuser\tchip\n",
          log->out);
}

void serving_log_add(ServingLog *log, ServingPhase phase, const ServingLayout *layout, LogLine line) {
    static const char *const PHASES[] = {"both", "prefill", "decode"};
    if (!log) return;
    const WorkerLayout *way = &layout->layout;
    const int64_t degrees[] = {way->tensor,        way->attention_data, way->pipeline, way->expert,
                               way->expert_tensor, way->kv_sequence,    way->kv_batch, way->stationary};
    FILE *out = log->out;
    fprintf(out, "%s\t%s\t%s\t", log->engine, log->mode, PHASES[phase]);
    for (int a = 0; a < MESH_AXES_MAX; a++) fprintf(out, "%s%lld", a ? "x" : "", (long long)layout->submesh->size[a]);
    for (size_t i = 0; i < COUNT_OF(degrees); i++) fprintf(out, "\t%lld", (long long)degrees[i]);
    fprintf(out, "\t%s\t%s\t%lld\t%s\t%lld\t%lld\t%a\t%a\n", stored_name(way->weights), stored_name(way->cache),
            (long long)layout->number, line.what, (long long)line.low, (long long)line.high, line.user, line.chip);
}

/* ---- layouts ---- */

static bool kind_divides(const Model *model, const LayerKind *kind, const WorkerLayout *layout) {
    bool latent = kind->attention == ATTENTION_LATENT;
    int64_t tensor = layout->tensor, further = layout->kv_sequence * layout->kv_batch;
    bool attends = kind->heads > 0;
    if (kind_heads(model, kind) % tensor != 0) return false;
    if (attends && !latent && (tensor > kind->kv_heads ? tensor % kind->kv_heads : kind->kv_heads % tensor) != 0)
        return false;
    if (attends && cache_copies(kind, tensor) % further != 0) return false;
    if (layout->stationary > 1 && kind->d_ff == 0 && kind->experts == 0) return false;
    if (kind->d_ff % tensor != 0 || kind->d_ff_shared % tensor != 0) return false;
    if (kind->experts == 0 && kind->d_ff == 0) return true;
    if (kind->experts == 0) return kind->d_ff % worker_group(layout) == 0 || layout->expert * layout->expert_tensor > 1;
    /* Redundant experts fill the ranks of the widest group. */
    bool copies = layout->attention_data > 1 && layout->expert_tensor == 1 && layout->expert < kind->experts;
    return (kind->experts % layout->expert == 0 || copies) && kind->d_ff_expert % layout->expert_tensor == 0;
}

bool layout_divides(const Model *model, const WorkerLayout *layout) {
    if (layout->pipeline > model->layers || layout->tensor % layout->stationary != 0) return false;
    for (int i = 0; i < model->kind_count; i++)
        if (!kind_divides(model, &model->kinds[i], layout)) return false;
    return true;
}

typedef struct {
    const ServingQuestion *question;
    ServingPhase phase;
    ServingLayout layout; /* being filled in */
    WorkerLinks links;
    LayoutVisit visit;
    void *context;
    SpaceCount *count;
} Walk;

static bool admitted(const Walk *walk) {
    const WorkerLayout *layout = &walk->layout.layout;
    const int64_t values[] = {layout->tensor,   layout->pipeline,      layout->attention_data,
                              layout->expert,   layout->expert_tensor, layout->kv_sequence,
                              layout->kv_batch, layout->stationary,    walk->layout.submesh->copies};
    if (walk->question->usual && layout_is_seldom(walk->question, layout)) return false;
    for (int word = 0; word < (int)COUNT_OF(values); word++)
        if (!question_admits(walk->question, (int)walk->phase, (LayoutWord)word, values[word])) return false;
    return true;
}

int64_t devices_of_host(const ServingQuestion *question) {
    int64_t each = max_whole(1, question->chip.devices_per_chip);
    return min_whole(max_whole(1, question->chip.chips_per_host) * each, question->machine.mesh.devices);
}

int64_t devices_of_domain(const ServingQuestion *question) {
    const Mesh *mesh = &question->machine.mesh;
    int64_t devices = 1;
    for (int a = 0; a < mesh->axis_count; a++)
        if (!axis_is_across(&mesh->axes[a])) devices *= mesh->axes[a].size;
    return devices;
}

/* Workers are started host by host: an even part of one, or whole ones within a domain, or whole domains. */
static bool starts_on_hosts(const ServingQuestion *question, const Engine *engine, const EngineAsk *ask) {
    int64_t devices = worker_devices(ask->layout), host = devices_of_host(question);
    int64_t domain = devices_of_domain(question);
    EnginePlace place = {
        .hosts = divide_up(devices, host), .host_devices = min_whole(devices, host), .shares_host = devices < host};
    bool whole = devices <= host ? host % devices == 0 : devices % host == 0;
    return whole && (devices <= domain || devices % domain == 0) &&
           !(engine->start.cannot && engine->start.cannot(ask, &place));
}

EngineRole engine_role(ServingPhase phase) {
    return phase == PHASE_BOTH ? ENGINE_ALONE : phase == PHASE_PROMPTS ? ENGINE_PROMPTS : ENGINE_DECODES;
}

bool layout_is_seldom(const ServingQuestion *question, const WorkerLayout *layout) {
    bool inside = worker_devices(layout) <= devices_of_host(question);
    bool mixed = layout->attention_data > 1 && layout->tensor > 1, staged = layout->pipeline > 1 && inside;
    return chip_has_domains(&question->chip) && (mixed || staged || layout->kv_sequence > 1);
}

bool engine_takes(const ServingQuestion *question, int engine, ServingPhase phase, const WorkerLayout *layout) {
    EngineAsk request = {&question->model, &question->chip, layout, engine_role(phase)};
    const Engine *of = engine_at(engine);
    return of->weights >> layout->weights & 1 && of->caches >> layout->cache & 1 && !of->refuses(&request) &&
           starts_on_hosts(question, of, &request);
}

static bool exclude(Walk *walk, Exclusion reason) {
    walk->count->layouts++;
    walk->count->excluded[reason]++;
    serving_log_add(walk->count->log, walk->phase, &walk->layout, (LogLine){.what = exclusion_name(reason)});
    return true;
}

static bool try_layout(Walk *walk) {
    walk->layout.key++;
    if (!layout_divides(&walk->question->model, &walk->layout.layout)) return exclude(walk, EXCLUDED_INDIVISIBLE);
    if (!admitted(walk)) return exclude(walk, EXCLUDED_REQUIRE);
    if (walk->layout.engine != NO_ENGINE &&
        !engine_takes(walk->question, walk->layout.engine, walk->phase, &walk->layout.layout))
        return exclude(walk, EXCLUDED_ENGINE);
    walk->count->layouts++;
    return walk->visit(walk->context, &walk->layout, &walk->links);
}

static bool each_type(Walk *walk) {
    const ServingQuestion *question = walk->question;
    for (int w = 0; w < question->weights_count; w++)
        for (int c = 0; c < question->caches_count; c++) {
            walk->layout.layout.weights = question->weights[w];
            walk->layout.layout.cache = question->caches[c];
            if (!try_layout(walk)) return false;
        }
    return true;
}

/* How the copies of a head of the cache are used: for parts of sequences, for other sequences, or not at all. Prompts
 * do not wait for the cache, so that there it is not cut. Two-dimensional matmuls are for tori. */
static bool each_cut(Walk *walk) {
    WorkerLayout *layout = &walk->layout.layout;
    bool prompts = walk->phase == PHASE_PROMPTS, torus = !chip_has_domains(&walk->question->chip);
    int64_t tensor = layout->tensor;
    for (int64_t sequence = 1; sequence <= (prompts ? 1 : tensor); sequence++) {
        if (tensor % sequence != 0) continue;
        for (int64_t batch = 1; batch <= (prompts ? 1 : tensor / sequence); batch++) {
            if (tensor / sequence % batch != 0) continue;
            for (int64_t x = 1; x <= (torus && !model_has_experts(&walk->question->model) ? tensor : 1); x *= 2) {
                layout->kv_sequence = sequence;
                layout->kv_batch = batch;
                layout->stationary = x;
                if (!each_type(walk)) return false;
            }
        }
    }
    return true;
}

static bool each_expert_grid(Walk *walk) {
    WorkerLayout *layout = &walk->layout.layout;
    int64_t group = worker_group(layout);
    layout->expert = layout->expert_tensor = 1;
    if (!model_has_experts(&walk->question->model)) return each_cut(walk);
    for (int64_t expert = 1; expert <= group; expert++) {
        if (group % expert != 0) continue;
        layout->expert = expert;
        layout->expert_tensor = group / expert;
        if (!each_cut(walk)) return false;
    }
    return true;
}

static bool same_message(const MessageCost *a, const MessageCost *b) {
    return a->some == b->some && a->table == b->table && memcmp(&a->cost, &b->cost, sizeof a->cost) == 0;
}

static bool same_links(const WorkerLinks *a, const WorkerLinks *b) {
    return same_message(&a->reduce, &b->reduce) && same_message(&a->gather, &b->gather) &&
           same_message(&a->shuffle, &b->shuffle) && same_message(&a->collect, &b->collect) &&
           same_message(&a->dispatch, &b->dispatch) && same_message(&a->pass, &b->pass);
}

static int64_t routed_experts(const Model *model) {
    int64_t routed = 0;
    for (int i = 0; i < model->kind_count; i++) routed = max_whole(routed, model->kinds[i].top_k);
    return routed;
}

void layout_links(const ServingQuestion *question, const ServingLayout *layout, WorkerLinks *out) {
    worker_links(&layout->submesh->mesh, &layout->placement, routed_experts(&question->model),
                 &question->profiles[layout->engine], out);
    out->balanced |= chip_has_domains(&question->chip) && layout->layout.attention_data > 1 &&
                     worker_group(&layout->layout) > devices_of_host(question); /* experts are cut later: engine.h */
}

/* Placements of a tuple of degrees that cost the same stand for each other: the first one is kept. */
static bool each_placement(Walk *walk) {
    WorkerLayout *layout = &walk->layout.layout;
    const Mesh *mesh = &walk->layout.submesh->mesh;
    Degrees degrees = {{1, 1, 1, 1, 1, 1}};
    Arena arena = {0};
    Placement *placements;
    int64_t count;
    degrees.of[ROLE_TENSOR] = layout->tensor;
    degrees.of[ROLE_EXPERT] = layout->attention_data;
    degrees.of[ROLE_PIPELINE] = layout->pipeline;
    bool ok = placements_enumerate(mesh, &degrees, &arena, &placements, &count, NULL);
    WorkerLinks *seen = ok ? ARENA_NEW(&arena, WorkerLinks, (size_t)count) : NULL;
    int64_t kept = 0;
    ok = ok && seen;
    for (int64_t i = 0; i < count && ok; i++) {
        walk->layout.placement = placements[i];
        walk->layout.number = i;
        layout_links(walk->question, &walk->layout, &walk->links);
        bool known = false;
        for (int64_t s = 0; s < kept && !known; s++) known = same_links(&seen[s], &walk->links);
        if (!known) seen[kept++] = walk->links;
        ok = known ? exclude(walk, EXCLUDED_EQUAL) : each_expert_grid(walk);
    }
    arena_free(&arena);
    return ok;
}

/* Cheap refusals before any placement is made. */
static bool degrees_possible(const Model *model, const WorkerLayout *layout) {
    for (int i = 0; i < model->kind_count; i++)
        if (model->kinds[i].heads % layout->tensor != 0) return false;
    return layout->pipeline <= model->layers;
}

/* One tuple of degrees in a sub-mesh. */
static bool each_tuple(Walk *walk, int64_t tensor, int64_t data) {
    const ServingQuestion *question = walk->question;
    int phase = (int)walk->phase;
    int64_t pipeline = walk->layout.submesh->devices / tensor / data;
    walk->layout.layout = (WorkerLayout){tensor, data, pipeline, 0, 0, 0, 0, 0, 0, 0};
    walk->layout.number = 0;
    if (!degrees_possible(&question->model, &walk->layout.layout)) return exclude(walk, EXCLUDED_INDIVISIBLE);
    if (!question_admits(question, phase, LAYOUT_TENSOR, tensor) ||
        !question_admits(question, phase, LAYOUT_ATTENTION_DATA, data) ||
        !question_admits(question, phase, LAYOUT_PIPELINE, pipeline))
        return exclude(walk, EXCLUDED_REQUIRE);
    return each_placement(walk);
}

bool space_each(const Space *space, LayoutVisit visit, void *context) {
    Walk walk = {
        .question = space->question, .phase = space->phase, .visit = visit, .context = context, .count = space->count};
    walk.layout.engine = space->engine;
    for (int b = 0; b < space->submeshes->count; b++) {
        int64_t devices = space->submeshes->list[b].devices;
        walk.layout.submesh = &space->submeshes->list[b];
        for (int64_t tensor = 1; tensor <= devices; tensor++)
            for (int64_t data = 1; devices % tensor == 0 && data <= devices / tensor; data++)
                if (devices / tensor % data == 0 && !each_tuple(&walk, tensor, data)) return false;
    }
    return true;
}
