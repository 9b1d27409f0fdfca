/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json.h"
#include "search/program/write.h"

#include <math.h>
#include <string.h>

static bool add_tally(cJSON *to, const Tally *tally) {
    cJSON *bytes = json_add_object(to, "sent_bytes"), *seconds = json_add_object(to, "collective_seconds");
    bool ok = bytes && seconds && json_add_real(to, "work_seconds", tally->work_seconds) &&
              json_add_real(to, "matrix_flops", tally->flops);
    for (int op = 0; op < COLLECTIVE_COUNT && ok; op++) {
        if (!(tally->bytes[op] > 0)) continue;
        ok = json_add_real(bytes, collective_name((Collective)op), tally->bytes[op]) &&
             json_add_real(seconds, collective_name((Collective)op), tally->seconds[op]);
    }
    return ok;
}

static bool add_choice(cJSON *to, const ProgramChoice *choice) {
    static const char *const PROOFS[] = {"optimal", "gap", "infeasible"};
    cJSON *sizes = json_add_array(to, "mesh");
    bool ok =
        sizes && json_add_text(to, "proof", PROOFS[choice->proof]) && json_add_real(to, "bound_seconds", choice->bound);
    for (int a = 0; a < choice->mesh.axes && ok; a++) ok = json_add_whole(sizes, NULL, choice->mesh.size[a]);
    if (!choice->found) return ok;
    return ok && json_add_real(to, "seconds", choice->seconds) && json_add_real(to, "peak_bytes", choice->peak_bytes) &&
           json_add_real(to, "peak_most_bytes", choice->peak_most_bytes) && add_tally(to, &choice->tally);
}

/* A list for each dimension, of the axes that cut it. */
static bool add_spec(cJSON *to, const LogicalMesh *mesh, int rank, Spec spec) {
    cJSON *list = json_add_array(to, "sharding");
    bool ok = list;
    for (int d = 0; d < rank && ok; d++) {
        cJSON *axes = json_add_array(list, NULL);
        ok = axes;
        for (int a = 0; a < mesh->axes && ok; a++)
            if (spec_dimension(spec, a) == d) ok = json_add_text(axes, NULL, (char[]){(char)('x' + a), '\0'});
    }
    return ok;
}

static bool add_arguments(cJSON *to, const ProgramQuestion *question, const ProgramAnswer *answer) {
    const ProgramChoice *best = &answer->choice[answer->best];
    cJSON *list = json_add_array(to, "arguments");
    bool ok = list;
    for (int64_t i = 0; i < question->program->entries && ok; i++) {
        const FlowNode *node = &answer->flow.node[i];
        cJSON *one = json_add_object(list, NULL);
        char type[128];
        snprintf(type, sizeof type, "%.*s", node->type.text.length < 120 ? node->type.text.length : 120,
                 node->type.text.at);
        ok = one && json_add_text(one, "type", type) && add_spec(one, &best->mesh, node->type.rank, best->spec[i]);
    }
    return ok;
}

/* Whether something is priced at nothing, because no rule says what it takes. */
static bool leaves_out(const Flow *flow) {
    for (int64_t i = 0; i < flow->nodes; i++)
        if (flow->node[i].whole && flow->node[i].op >= 0) return true;
    return false;
}

bool program_write_json(const ProgramQuestion *question, const ProgramAnswer *answer, FILE *out, Error *error) {
    static const char *const KEYS[REFERENCE_COUNT] = {"data_parallel", "fsdp"};
    cJSON *json = cJSON_CreateObject();
    bool ok =
        json && json_add_whole(json, "format_version", 1) && json_add_text(json, "name", question->program->where) &&
        json_add_text(json, "chip", question->chip.name) && json_add_text(json, "machine", question->machine.text) &&
        json_add_bool(json, "proven", answer->proven && answer->best >= 0 && !leaves_out(&answer->flow)) &&
        json_add_bool(json, "may_exceed", answer->may_exceed) &&
        json_add_whole(json, "operations", answer->flow.steps) && json_add_whole(json, "nodes", answer->nodes) &&
        json_add_whole(json, "edges", answer->edges) && json_add_whole(json, "strategies", answer->strategies);
    cJSON *meshes = ok ? json_add_array(json, "meshes") : NULL;
    ok = ok && meshes;
    for (int i = 0; i < answer->meshes.count && ok; i++) {
        cJSON *one = json_add_object(meshes, NULL);
        ok = one && add_choice(one, &answer->choice[i]);
    }
    cJSON *best = ok && answer->best >= 0 ? json_add_object(json, "best") : NULL;
    if (ok && answer->best >= 0) ok = best && add_choice(best, &answer->choice[answer->best]);
    cJSON *devices = ok && answer->best >= 0 ? json_add_array(best, "devices") : NULL;
    for (int64_t i = 0; i < question->machine.mesh.devices && devices && ok; i++)
        ok = json_add_whole(devices, NULL, mesh_chip(&question->machine.mesh, &answer->choice[answer->best].mesh, i));
    for (int r = 0; r < REFERENCE_COUNT && ok; r++) {
        if (!answer->reference[r].found) continue;
        cJSON *one = json_add_object(json, KEYS[r]);
        ok = one && add_choice(one, &answer->reference[r]);
    }
    if (ok && answer->best >= 0) ok = add_arguments(json, question, answer);
    ok = ok && json_print(out, json);
    cJSON_Delete(json);
    return ok || error_memory(error);
}
