/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/scheduler.h"

#include "base/memory_stream.h"
#include "base/util.h"
#include "mesh/slice.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_MOST = 40, BEGINS_SIZE = 512 }; /* of a DNS label's 63, with room for what a JobSet adds */
#define END "SHARDOPT_SCRIPT\n"
#define BEGIN "<<'SHARDOPT_SCRIPT'\n"

/* What Kubernetes' device plugins and Ray call a chip, by the beginning of its name. */
static const struct {
    const char *chip, *resource, *ray;
} RESOURCES[] = {{"mi", "amd.com/gpu", "GPU"},
                 {"gaudi", "habana.ai/gaudi", "HPU"},
                 {"trainium", "aws.amazon.com/neuron", "neuron_cores"},
                 {"ascend", "huawei.com/Ascend910", "NPU"},
                 {"", "nvidia.com/gpu", "GPU"}};

/* A DNS label: lower case, digits and single hyphens. */
static void write_label(const char *name, char label[LABEL_MOST + 1]) {
    int used = snprintf(label, LABEL_MOST + 1, "shardopt-");
    for (; *name && used < LABEL_MOST; name++) {
        bool plain = isalnum((unsigned char)*name);
        if (plain || label[used - 1] != '-') label[used++] = plain ? (char)tolower((unsigned char)*name) : '-';
    }
    if (label[used - 1] == '-') used--;
    label[used] = '\0';
}

static int64_t per_host(const ScheduledJob *job) {
    int64_t chips = job->machine->mesh.chips;
    return chips < job->chip->chips_per_host ? chips : job->chip->chips_per_host;
}

static int64_t hosts(const ScheduledJob *job) { return (job->machine->mesh.chips + per_host(job) - 1) / per_host(job); }

/* The lines of a text, each after so many blanks. */
static void write_indented(const char *text, int blanks, FILE *out) {
    while (*text) {
        int length = (int)strcspn(text, "\n");
        if (length > 0) fprintf(out, "%*s%.*s", blanks, "", length, text);
        fputc('\n', out);
        text += length + (text[length] == '\n');
    }
}

static void write_slurm(const ScheduledJob *job, const char *label, const char *script, FILE *out) {
    fprintf(out,
            "#!/usr/bin/env bash\n# sbatch THIS_FILE [ARGUMENTS OF THE TRAINER]\n#SBATCH --job-name=%s\n"
            "#SBATCH --nodes=%" PRId64 "\n#SBATCH --ntasks-per-node=1\n#SBATCH --gpus-per-node=%" PRId64
            "\n#SBATCH --exclusive\nset -euo pipefail\n\n"
            "HOSTS=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | tr '\\n' ' ')\n"
            "export HOSTS MASTER_ADDR=${HOSTS%%%% *}\nSCRIPT=$(cat %s%s%s)\n"
            "srun --kill-on-bad-exit=1 bash -c \"$SCRIPT\" launch \"$@\"\n",
            label, hosts(job), per_host(job), BEGIN, script, END);
}

static size_t resource_of(const Chip *chip) {
    size_t i = 0;
    while (strncmp(chip->name, RESOURCES[i].chip, strlen(RESOURCES[i].chip)) != 0) i++;
    return i;
}

const char *scheduler_resource(const Chip *chip) { return RESOURCES[resource_of(chip)].resource; }

/* The pod of a host, in which `begins` says where it stands among the others, and then `starts` the script. */
static void write_pod(const ScheduledJob *job, const char *script, int blanks, const char *begins, const char *starts,
                      FILE *out) {
    char limits[128];
    snprintf(limits, sizeof limits, "  resources: {limits: {%s: %" PRId64 "}}\n", scheduler_resource(job->chip),
             per_host(job));
    write_indented("containers:\n- name: launch\n  image: IMAGE\n", blanks, out);
    if (job->serves)
        write_indented("  env: [{name: MODEL, value: FOLDER_OR_NAME}, {name: PORT, value: \"8000\"}]\n", blanks, out);
    write_indented(limits, blanks, out);
    write_indented("  volumeMounts: [{name: shm, mountPath: /dev/shm}]\n  command:\n  - bash\n  - -c\n  - |\n", blanks,
                   out);
    write_indented(begins, blanks + 4, out);
    write_indented("SCRIPT=$(cat " BEGIN, blanks + 4, out);
    write_indented(script, blanks + 4, out);
    write_indented(END ")\n", blanks + 4, out);
    write_indented(starts, blanks + 4, out);
    write_indented("  - launch\nvolumes: [{name: shm, emptyDir: {medium: Memory}}]\n", blanks, out);
}

/* Hosts are the pods of one indexed job, each under a name of its own: JOBSET-JOB-REPLICA-INDEX.JOBSET. */
static void write_jobset(const ScheduledJob *job, const char *label, const char *script, FILE *out) {
    char begins[BEGINS_SIZE];
    snprintf(begins, sizeof begins,
             "export NODE_RANK=$JOB_COMPLETION_INDEX MASTER_ADDR=%s-hosts-0-0.%s\n"
             "HOSTS=$(seq -f '%s-hosts-0-%%g.%s' -s ' ' 0 %" PRId64 ")\nexport HOSTS\n",
             label, label, label, label, hosts(job) - 1);
    fprintf(
        out,
        "# kubectl create -f THIS_FILE, where JobSet is installed; give image, and the queue's label where Kueue is.\n"
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata:\n  name: %s\n"
        "  # labels: {kueue.x-k8s.io/queue-name: QUEUE}\nspec:\n"
        "  network: {enableDNSHostnames: true, publishNotReadyAddresses: true}\n"
        "  failurePolicy: {maxRestarts: 3}\n  replicatedJobs:\n  - name: hosts\n    replicas: 1\n    template:\n"
        "      spec:\n        parallelism: %" PRId64 "\n        completions: %" PRId64
        "\n        completionMode: Indexed\n        backoffLimit: 0\n        template:\n          spec:\n"
        "            restartPolicy: Never\n",
        label, hosts(job), hosts(job));
    write_pod(job, script, 12, begins, "bash -c \"$SCRIPT\" launch \"$@\"\n", out);
}

/* One group of pods that restart together: the leader LWS-GROUP.LWS, and behind it LWS-GROUP-INDEX.LWS. */
static void write_lws(const ScheduledJob *job, const char *label, const char *script, FILE *out) {
    char begins[BEGINS_SIZE];
    snprintf(begins, sizeof begins,
             "export NODE_RANK=$LWS_WORKER_INDEX MASTER_ADDR=$LWS_LEADER_ADDRESS\n"
             "HOSTS=\"%s-0.%s $(seq -f '%s-0-%%g.%s' -s ' ' 1 %" PRId64 ")\"\nexport HOSTS\n",
             label, label, label, label, hosts(job) - 1);
    fprintf(out,
            "# kubectl create -f THIS_FILE, where LeaderWorkerSet is installed; give image and MODEL, and the queue's "
            "label\n# where Kueue is. %s:8000 answers.\n"
            "apiVersion: v1\nkind: Service\nmetadata:\n  name: %s-front\nspec:\n  ports: [{port: 8000}]\n  selector:\n"
            "    leaderworkerset.sigs.k8s.io/name: %s\n    leaderworkerset.sigs.k8s.io/worker-index: \"0\"\n---\n"
            "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata:\n  name: %s\n"
            "  # labels: {kueue.x-k8s.io/queue-name: QUEUE}\nspec:\n  replicas: 1\n  leaderWorkerTemplate:\n"
            "    size: %" PRId64 "\n    restartPolicy: RecreateGroupOnPodRestart\n    workerTemplate:\n      spec:\n",
            label, label, label, label, hosts(job));
    write_pod(job, script, 8, begins,
              strstr(script, "\nroute() {") ? "if ((NODE_RANK == 0)); then bash -c \"$SCRIPT\" launch route & fi\n"
                                              "bash -c \"$SCRIPT\" launch \"$@\"\n"
                                            : "bash -c \"$SCRIPT\" launch \"$@\"\n",
              out);
}

/* A100-80GB as the catalog has a100-80g; plain A100 is the one of 40 GB. */
static void write_accelerator(const char *name, FILE *out) {
    size_t length = strlen(name);
    if (strcmp(name, "a100-40g") == 0) length = 4;
    for (size_t i = 0; i < length; i++) fputc(toupper((unsigned char)name[i]), out);
    if (length > 4 && name[length - 1] == 'g' && strchr(name, '-')) fputc('B', out);
}

static void write_skypilot(const ScheduledJob *job, const char *label, const char *script, FILE *out) {
    fprintf(out, "# sky launch%s THIS_FILE\nname: %s\nresources:\n  accelerators: ",
            job->serves ? " --env MODEL=FOLDER_OR_NAME" : "", label);
    write_accelerator(job->chip->name, out);
    fprintf(out,
            ":%" PRId64 "\nnum_nodes: %" PRId64 "\n%srun: |\n"
            "  export NODE_RANK=$SKYPILOT_NODE_RANK MASTER_ADDR=$(head -n 1 <<<\"$SKYPILOT_NODE_IPS\")\n"
            "  HOSTS=$(tr '\\n' ' ' <<<\"$SKYPILOT_NODE_IPS\")\n  export HOSTS\n  bash -c \"$(cat %s",
            per_host(job), hosts(job), job->serves ? "envs: {MODEL: null}\n" : "", BEGIN);
    write_indented(script, 2, out);
    fprintf(out, "  SHARDOPT_SCRIPT\n  )\" launch\n");
}

/* A program of Ray: the script once on each of so many nodes that have the accelerators. */
static void write_ray_program(const ScheduledJob *job, const char *script, int blanks, FILE *out) {
    const char *kind = RESOURCES[resource_of(job->chip)].ray;
    char numbers[192], takes[64] = "num_gpus=EACH";
    if (strcmp(kind, "GPU") != 0) snprintf(takes, sizeof takes, "resources={\"%s\": EACH}", kind);
    snprintf(numbers, sizeof numbers,
             "NODES, EACH = %" PRId64 ", %" PRId64 "\nBUNDLE = {\"CPU\": 1, \"%s\": EACH}\n\n\n"
             "@ray.remote(num_cpus=1, max_retries=0, %s)\n",
             hosts(job), per_host(job), kind, takes);
    write_indented("import os\nimport subprocess\nimport sys\n\nimport ray\n"
                   "from ray.util.placement_group import placement_group\n"
                   "from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy\n\n"
                   "LAUNCH = r\"\"\"exec bash -c \"$(cat " BEGIN,
                   blanks, out);
    write_indented(script, blanks, out);
    write_indented(END ")\" launch \"$@\"\n\"\"\"\n", blanks, out);
    write_indented(numbers, blanks, out);
    write_indented(
        "def launch(rank, hosts, words):\n"
        "    own = dict(os.environ, NODE_RANK=str(rank), MASTER_ADDR=hosts[0], HOSTS=\" \".join(hosts))\n"
        "    subprocess.run([\"bash\", \"-c\", LAUNCH, \"launch\", *words], env=own, check=True)\n\n\n"
        "@ray.remote(num_cpus=0)\ndef address():\n    return ray.util.get_node_ip_address()\n\n\n"
        "ray.init()\ngroup = placement_group([BUNDLE] * NODES, strategy=\"STRICT_SPREAD\")\nray.get(group.ready())\n"
        "places = [PlacementGroupSchedulingStrategy(group, i) for i in range(NODES)]\n"
        "hosts = ray.get([address.options(scheduling_strategy=place).remote() for place in places])\n"
        "ray.get([launch.options(scheduling_strategy=place).remote(rank, hosts, sys.argv[1:])\n"
        "         for rank, place in enumerate(places)])\n",
        blanks, out);
}

static void write_ray(const ScheduledJob *job, const char *label, const char *script, FILE *out) {
    fprintf(out, "# %s: %sray job submit --working-dir . -- python THIS_FILE%s\n", label,
            job->serves ? "MODEL=FOLDER_OR_NAME " : "", job->serves ? "" : " [ARGUMENTS OF THE TRAINER]");
    write_ray_program(job, script, 0, out);
}

/* The same program with a cluster of its own, whose head has no accelerators. */
static void write_rayjob(const ScheduledJob *job, const char *label, const char *script, FILE *out) {
    fprintf(out,
            "# kubectl create -f THIS_FILE, where KubeRay is installed; give image (with Ray in it), arguments behind\n"
            "# launch.py, and the queue's label where Kueue is.\n"
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata:\n  launch.py: |\n",
            label);
    write_ray_program(job, script, 4, out);
    fprintf(out,
            "---\napiVersion: ray.io/v1\nkind: RayJob\nmetadata:\n  name: %s\n"
            "  # labels: {kueue.x-k8s.io/queue-name: QUEUE}\nspec:\n  entrypoint: python /launch/launch.py\n"
            "  shutdownAfterJobFinishes: true\n  rayClusterSpec:\n    headGroupSpec:\n      rayStartParams: {num-cpus: "
            "\"0\"}\n"
            "      template:\n        spec:\n          containers:\n          - name: head\n            image: &image "
            "IMAGE\n"
            "            volumeMounts: [{name: launch, mountPath: /launch}]\n"
            "          volumes: [{name: launch, configMap: {name: %s}}]\n"
            "    workerGroupSpecs:\n    - groupName: hosts\n      replicas: %" PRId64 "\n      minReplicas: %" PRId64
            "\n      maxReplicas: %" PRId64 "\n      rayStartParams: {}\n      template:\n        spec:\n"
            "          containers:\n          - name: host\n            image: *image\n"
            "            resources: {limits: {%s: %" PRId64 "}}\n"
            "            volumeMounts: [{name: shm, mountPath: /dev/shm}]\n"
            "          volumes: [{name: shm, emptyDir: {medium: Memory}}]\n",
            label, label, hosts(job), hosts(job), hosts(job), scheduler_resource(job->chip), per_host(job));
}

const char *scheduler_tpu_type(const Chip *chip, const Machine *machine, char text[TPU_TYPE_SIZE]) {
    char shape[SLICE_TEXT_SIZE];
    SliceShape usual;
    int64_t chips = slice_chips(machine->slice);
    if (slice_default(chip, chips, &usual) && slice_compare(usual, machine->slice) == 0)
        snprintf(shape, sizeof shape, "%" PRId64, chips * (chip->cores_in_name > 1 ? chip->cores_in_name : 1));
    else
        slice_text(chip, machine->slice, shape);
    snprintf(text, TPU_TYPE_SIZE, "%.32s-%s", chip->name_prefix[0], shape);
    for (char *at = text; *at; at++) /* a chip's file is anyone's, and this is a word of a shell */
        if (!isalnum((unsigned char)*at)) *at = '-';
    return text;
}

/* XPK puts the command into a line of YAML, so that the file travels in one word. */
static void write_xpk(const ScheduledJob *job, const char *label, const char *script, FILE *out) {
    char type[TPU_TYPE_SIZE];
    fprintf(out,
            "#!/usr/bin/env bash\n# CLUSTER=NAME IMAGE=NAME bash THIS_FILE [ARGUMENTS OF THE TRAINER]\n"
            "set -euo pipefail\n: \"${CLUSTER:?give the cluster}\" \"${IMAGE:?give the image of the trainer}\"\n\n"
            "FILE=$(base64 %s%s%s)\n"
            "exec xpk workload create --cluster \"$CLUSTER\" --workload %s --tpu-type %s --num-slices %" PRId64 " \\\n"
            "    --docker-image \"$IMAGE\" --command \"echo ${FILE//[[:space:]]/} | base64 -d >/tmp/plan.yml && \\\n"
            "%s /tmp/plan.yml ${*@Q}\"\n",
            BEGIN, script, END, label, scheduler_tpu_type(job->chip, job->machine, type), job->machine->slices,
            job->starts);
}

/* What can be started: scripts that train or serve on hosts of GPUs, and what a trainer reads on slices of TPUs. */
enum { TRAINING = 1, SERVING = 2, SLICES = 4 };
static const struct {
    const char *name;
    void (*write)(const ScheduledJob *job, const char *label, const char *script, FILE *out);
    unsigned starts;
} SCHEDULERS[] = {{"slurm", write_slurm, TRAINING | SERVING},
                  {"jobset", write_jobset, TRAINING | SERVING},
                  {"lws", write_lws, SERVING},
                  {"skypilot", write_skypilot, TRAINING | SERVING},
                  {"ray", write_ray, TRAINING | SERVING},
                  {"rayjob", write_rayjob, TRAINING},
                  {"xpk", write_xpk, SLICES}};

static size_t scheduler_named(const char *name) {
    size_t i = 0;
    while (i < COUNT_OF(SCHEDULERS) && strcmp(SCHEDULERS[i].name, name) != 0) i++;
    return i;
}

bool scheduler_known(const char *under, Error *error) {
    if (!under || scheduler_named(under) < COUNT_OF(SCHEDULERS)) return true;
    return error_set(error, ERROR_INPUT, "--under",
                     "\"%s\" is none of slurm, jobset, lws, skypilot, ray, rayjob and xpk", under);
}

static const char *refusal(unsigned starts, const ScheduledJob *job, const char *script) {
    bool slices = !chip_has_domains(job->chip), is_script = strncmp(script, "#!", 2) == 0;
    if (slices && !(starts & SLICES)) return "starts hosts of GPUs; slices of TPUs are started by xpk";
    if (slices) return job->starts ? NULL : "starts MaxText's trainer on slices; emit maxtext writes what it reads";
    if (starts == SLICES) return "starts slices of TPUs; give another for hosts of GPUs";
    if (!is_script || strstr(script, "SHARDOPT_SCRIPT") || strstr(script, "\"\"\""))
        return "starts a script on each host, and this format is read by its trainer; start that";
    if (!(starts & (job->serves ? SERVING : TRAINING)))
        return job->serves ? "ends with its job; servers are kept by lws" : "keeps servers; jobset starts what trains";
    return NULL;
}

static bool wrap(const char *under, const ScheduledJob *job, const char *script, FILE *out, Error *error) {
    char label[LABEL_MOST + 1];
    const size_t scheduler = scheduler_named(under);
    const char *refused = refusal(SCHEDULERS[scheduler].starts, job, script);
    if (refused) return error_set(error, ERROR_INPUT, "--under", "%s", refused);
    write_label(job->name, label);
    SCHEDULERS[scheduler].write(job, label, script, out);
    return true;
}

bool scheduler_write(const char *under, const ScheduledJob *job, bool (*write)(void *plan, FILE *out, Error *error),
                     void *plan, FILE *out, Error *error) {
    char *script = NULL;
    size_t length;
    if (!under) return write(plan, out, error);
    FILE *text = memory_stream_open(&script, &length);
    if (!text) return error_memory(error);
    bool written = write(plan, text, error), kept = fclose(text) == 0;
    bool ok = written && (kept || error_memory(error)) && wrap(under, job, script, out, error);
    free(script);
    return ok;
}

void scheduler_unwrap(char *text, size_t *length) {
    const char *end = text + *length, *at = strstr(text, BEGIN);
    char *out = text;
    if (!at) return;
    at += strlen(BEGIN);
    for (const char *before = text; before < at; before++)
        if (*before == '\n') *out++ = '\n';
    size_t blanks = strspn(at, " ");
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        const char *next = line_end ? line_end + 1 : end;
        for (size_t i = 0; i < blanks && *at == ' '; i++) at++;
        if (strncmp(at, END, strlen(END)) == 0) break;
        memmove(out, at, (size_t)(next - at));
        out += next - at;
        at = next;
    }
    *out = '\0';
    *length = (size_t)(out - text);
}
