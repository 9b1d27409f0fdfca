/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The best plan of a request, from C.
 *   cc plan.c $(pkg-config --cflags --libs shardopt) -o plan && ./plan 8b v5e 4x4 */
#include <shardopt.h>
#include <stdio.h>

int main(int argc, char **argv) {
    if (argc != 4) return fprintf(stderr, "usage: plan MODEL CHIP SLICE\n"), SHARDOPT_INPUT;
    const char *options[][2] = {{"model", argv[1]}, {"chip", argv[2]}, {"slice", argv[3]}, {"batch", "256Ki"}};
    shardopt_error error;
    shardopt_report *report = NULL;
    shardopt_request *request = shardopt_request_new();
    int code = request ? SHARDOPT_DONE : SHARDOPT_DEFECT;
    for (int i = 0; code == SHARDOPT_DONE && i < 4; i++)
        code = shardopt_request_set(request, options[i][0], options[i][1], &error);
    if (code == SHARDOPT_DONE) code = shardopt_search(request, NULL, &report, &error);
    shardopt_request_free(request);
    if (!report) return fprintf(stderr, "%s: %s\n", error.where, error.text), code;

    shardopt_plan plan;
    const char *name;
    double seconds;
    if (shardopt_report_plan(report, 1, &plan))
        printf("%s: %.4g s a step, %s\n", plan.notation, plan.seconds,
               code == SHARDOPT_DONE ? "proven" : "not proven");
    else
        printf("no plan fits\n");
    for (int i = 0; shardopt_report_term(report, 1, i, &name, &seconds); i++) printf("  %-14s %.4g s\n", name, seconds);
    shardopt_report_free(report);
    return code;
}
