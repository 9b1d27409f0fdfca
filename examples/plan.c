/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The best plan of a request, from C: the report is JSON, read here by cJSON.
 *   cc plan.c $(pkg-config --cflags --libs shardopt libcjson) -o plan && ./plan 8b v5e 4x4 */
#include <cjson/cJSON.h>
#include <shardopt.h>
#include <stdio.h>

int main(int argc, char **argv) {
    if (argc != 4) return fprintf(stderr, "usage: plan MODEL CHIP SLICE\n"), 2;
    char *words[] = {"shardopt", "--model", argv[1], "--chip",   argv[2], "--slice",
                     argv[3],    "--batch", "256Ki", "--format", "json",  NULL};
    char *report, *messages;
    int code = shardopt_call(11, words, &report, &messages);
    cJSON *json = report ? cJSON_Parse(report) : NULL;
    const cJSON *plan = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "plans"), 0);
    if (plan)
        printf("%s: %.4g s a step, %s\n", cJSON_GetObjectItem(plan, "notation")->valuestring,
               cJSON_GetObjectItem(cJSON_GetObjectItem(plan, "step"), "seconds")->valuedouble,
               code == 0 ? "proven" : "not proven");
    else
        fputs(messages ? messages : "memory is out\n", stderr);
    cJSON_Delete(json);
    shardopt_free(report);
    shardopt_free(messages);
    return code;
}
