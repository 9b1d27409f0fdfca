/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/scheduler.h"

#include "base/memory_stream.h"
#include "base/util.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_MOST = 40 }; /* of a DNS label's 63, with room for what a JobSet adds */
static const char BEGIN[] = "<<'SHARDOPT_SCRIPT'\n", END[] = "SHARDOPT_SCRIPT\n";

/* What Kubernetes' device plugins call a chip, by the beginning of its name. */
static const struct {
    const char *chip, *resource;
} RESOURCES[] = {{"mi", "amd.com/gpu"},
                 {"gaudi", "habana.ai/gaudi"},
                 {"trainium", "aws.amazon.com/neuron"},
                 {"ascend", "huawei.com/Ascend910"},
                 {"", "nvidia.com/gpu"}};

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
    return job->chips < job->chip->chips_per_host ? job->chips : job->chip->chips_per_host;
}

static int64_t hosts(const ScheduledJob *job) { return (job->chips + per_host(job) - 1) / per_host(job); }

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

const char *scheduler_resource(const Chip *chip) {
    size_t i = 0;
    while (strncmp(chip->name, RESOURCES[i].chip, strlen(RESOURCES[i].chip)) != 0) i++;
    return RESOURCES[i].resource;
}

/* Hosts are the pods of one indexed job, each under a name of its own: JOBSET-JOB-REPLICA-INDEX.JOBSET. */
static void write_jobset(const ScheduledJob *job, const char *label, const char *script, FILE *out) {
    fprintf(
        out,
        "# kubectl create -f THIS_FILE, where JobSet is installed; give image, and the queue's label where Kueue is.\n"
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata:\n  name: %s\n"
        "  # labels: {kueue.x-k8s.io/queue-name: QUEUE}\nspec:\n"
        "  network: {enableDNSHostnames: true, publishNotReadyAddresses: true}\n"
        "  failurePolicy: {maxRestarts: 3}\n  replicatedJobs:\n  - name: hosts\n    replicas: 1\n    template:\n"
        "      spec:\n        parallelism: %" PRId64 "\n        completions: %" PRId64
        "\n        completionMode: Indexed\n        backoffLimit: 0\n        template:\n          spec:\n"
        "            restartPolicy: Never\n            containers:\n            - name: launch\n"
        "              image: IMAGE\n              resources: {limits: {%s: %" PRId64 "}}\n"
        "              volumeMounts: [{name: shm, mountPath: /dev/shm}]\n              command:\n"
        "              - bash\n              - -c\n              - |\n"
        "                export NODE_RANK=$JOB_COMPLETION_INDEX MASTER_ADDR=%s-hosts-0-0.%s\n"
        "                HOSTS=$(seq -f '%s-hosts-0-%%g.%s' -s ' ' 0 %" PRId64 ")\n                export HOSTS\n"
        "                bash -c \"$(cat %s",
        label, hosts(job), hosts(job), scheduler_resource(job->chip), per_host(job), label, label, label, label,
        hosts(job) - 1, BEGIN);
    write_indented(script, 16, out);
    fprintf(out, "                SHARDOPT_SCRIPT\n                )\" launch \"$@\"\n              - launch\n"
                 "            volumes: [{name: shm, emptyDir: {medium: Memory}}]\n");
}

/* A100-80GB as the catalog has a100-80g; plain A100 is the one of 40 GB. */
static void write_accelerator(const char *name, FILE *out) {
    size_t length = strlen(name);
    if (strcmp(name, "a100-40g") == 0) length = 4;
    for (size_t i = 0; i < length; i++) fputc(toupper((unsigned char)name[i]), out);
    if (length > 4 && name[length - 1] == 'g' && strchr(name, '-')) fputc('B', out);
}

static void write_skypilot(const ScheduledJob *job, const char *label, const char *script, FILE *out) {
    fprintf(out, "# sky launch THIS_FILE\nname: %s\nresources:\n  accelerators: ", label);
    write_accelerator(job->chip->name, out);
    fprintf(out,
            ":%" PRId64 "\nnum_nodes: %" PRId64 "\nrun: |\n"
            "  export NODE_RANK=$SKYPILOT_NODE_RANK MASTER_ADDR=$(head -n 1 <<<\"$SKYPILOT_NODE_IPS\")\n"
            "  HOSTS=$(tr '\\n' ' ' <<<\"$SKYPILOT_NODE_IPS\")\n  export HOSTS\n  bash -c \"$(cat %s",
            per_host(job), hosts(job), BEGIN);
    write_indented(script, 2, out);
    fprintf(out, "  SHARDOPT_SCRIPT\n  )\" launch\n");
}

static const struct {
    const char *name;
    void (*write)(const ScheduledJob *job, const char *label, const char *script, FILE *out);
} SCHEDULERS[] = {{"slurm", write_slurm}, {"jobset", write_jobset}, {"skypilot", write_skypilot}};

static size_t scheduler_named(const char *name) {
    size_t i = 0;
    while (i < COUNT_OF(SCHEDULERS) && strcmp(SCHEDULERS[i].name, name) != 0) i++;
    return i;
}

bool scheduler_known(const char *under, Error *error) {
    if (!under || scheduler_named(under) < COUNT_OF(SCHEDULERS)) return true;
    return error_set(error, ERROR_INPUT, "--under", "\"%s\" is none of slurm, jobset and skypilot", under);
}

static bool wrap(const char *under, const ScheduledJob *job, const char *script, FILE *out, Error *error) {
    char label[LABEL_MOST + 1];
    if (!chip_has_domains(job->chip))
        return error_set(error, ERROR_INPUT, "--under", "starts hosts of GPUs; slices of TPUs are started by XPK");
    if (strncmp(script, "#!", 2) != 0 || strstr(script, "SHARDOPT_SCRIPT"))
        return error_set(error, ERROR_INPUT, "--under",
                         "starts a script on each host, and this format is read by its trainer; start that");
    write_label(job->name, label);
    SCHEDULERS[scheduler_named(under)].write(job, label, script, out);
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
