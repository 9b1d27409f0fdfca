/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A caller of the library, which prints a figure of plan 1 that it has never heard of: KEY OPTION=VALUE... */
#include "search/shardopt.h"

#include <string.h>

int main(int argc, char **argv) {
    shardopt_error error;
    shardopt_report *report = NULL;
    shardopt_request *request = shardopt_request_new();
    const char *key, *meaning;
    double value = -1;
    for (int i = 2; i < argc; i++) {
        char *equals = strchr(argv[i], '=');
        *equals = '\0';
        shardopt_request_set(request, argv[i], equals + 1, &error);
    }
    int code = shardopt_search(request, NULL, &report, &error);
    if (report && shardopt_report_figure(report, 1, argv[1], &value)) printf("%.17g\n", value);
    for (int i = 0; shardopt_plan_figure(i, &key, &meaning); i++)
        if (strcmp(key, argv[1]) == 0) printf("%s\n", meaning);
    shardopt_report_free(report);
    shardopt_request_free(request);
    return code;
}
