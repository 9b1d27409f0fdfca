/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shardopt.h: the library, seen from outside. A request is made of options, a search turns it into a report, and the
 * report is read figure by figure or written whole. Linking the library binds: GPL-3.0-or-later, as GLPK inside it is.
 *
 *     shardopt_error error;
 *     shardopt_report *report;
 *     shardopt_request *request = shardopt_request_new();
 *     shardopt_request_set(request, "model", "405b", &error);
 *     shardopt_request_set(request, "pods", "8", &error);
 *     int code = shardopt_search(request, NULL, &report, &error);
 *     if (report) {
 *         shardopt_plan plan;
 *         if (shardopt_report_plan(report, 1, &plan)) printf("%s: %g s a step\n", plan.notation, plan.seconds);
 *     } else {
 *         fprintf(stderr, "%s: %s\n", error.where, error.text);
 *     }
 *     shardopt_report_free(report), shardopt_request_free(request);
 *
 * Compile with `pkg-config --cflags --libs shardopt`, or in CMake find_package(shardopt) and shardopt::shardopt.
 *
 * Threads: a request and a report belong to one thread at a time. Different ones may be used side by side: two searches
 * in two threads give the bytes that one gives. The caller's locale does not matter, and stays as it is. Data files are
 * found by SHARDOPT_DATA, or where the library was built from or installed to. The JSON report is stable: its
 * format_version says when it changes (docs/json.md). Nothing of the binary interface is promised before version 1. */
#ifndef SHARDOPT_H
#define SHARDOPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#if defined(__GNUC__)
#define SHARDOPT_API __attribute__((visibility("default")))
#else
#define SHARDOPT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* "0.1.0". The text is static: it is not to be freed. */
SHARDOPT_API const char *shardopt_version(void);

/* What functions return, and what the program exits with. */
typedef enum {
    SHARDOPT_DONE = 0,          /* done; of a search: the first plan is proven to be the best */
    SHARDOPT_INPUT = 2,         /* an option or a file is wrong */
    SHARDOPT_NO_PLAN = 3,       /* no plan fits: the report says how far off the nearest is */
    SHARDOPT_LIMIT = 4,         /* a limit ended the search: the report has the best plan so far and its gap */
    SHARDOPT_DEFECT = 70,       /* a defect of the library, or memory is out */
    SHARDOPT_INTERRUPTED = 130, /* the caller ended the search: the report has the best plan so far and its gap */
} shardopt_code;

/* Why a call failed. `code` is SHARDOPT_DONE where it did not. */
typedef struct {
    int code;
    char where[192]; /* "pods", or "run.json:12:7" */
    char text[384];  /* what is wrong; what would be right */
} shardopt_error;

/* ---- a request ---- */

typedef struct shardopt_request shardopt_request;

/* An empty request; NULL means that memory is out. */
SHARDOPT_API shardopt_request *shardopt_request_new(void);
SHARDOPT_API void shardopt_request_free(shardopt_request *request); /* NULL does nothing */

/* Sets one option of `shardopt plan` by its long name without dashes, in place of what was set before: "model" to
 * "405b", "max-idle" to "5%", "variants" to "" (a flag). `value` NULL takes the option back. Names are checked now,
 * values when the search begins. Options that write files or print (output, format, timing, color, ...) are not part of
 * a request. Returns SHARDOPT_DONE, SHARDOPT_INPUT or SHARDOPT_DEFECT. `error` may be NULL, here and below. */
SHARDOPT_API int shardopt_request_set(shardopt_request *request, const char *option, const char *value,
                                      shardopt_error *error);

/* The model as the text of a Hugging Face config.json, `length` bytes, in place of the option "model". `name` is what
 * errors and the report call it. */
SHARDOPT_API int shardopt_request_set_model_json(shardopt_request *request, const char *name, const char *json,
                                                 size_t length, shardopt_error *error);

/* ---- a search ---- */

typedef struct shardopt_report shardopt_report;

/* What a search may ask of its caller; each member may be NULL. Both are called from threads of the search. */
typedef struct {
    void *context;
    /* True ends the search with the best plan so far, within about a second. It is called often and has to be quick. */
    bool (*interrupted)(void *context);
    /* Expressible now and then: the seconds of the best plan so far (0 means that none is known) and the least bound of
     * what is left, both as plans are ranked. */
    void (*progress)(void *context, double best_seconds, double bound_seconds);
} shardopt_hooks;

/* Searches, and what the report has around the search. `hooks` may be NULL. Returns the code; *report is NULL where it
 * is SHARDOPT_INPUT or SHARDOPT_DEFECT, and belongs to the caller otherwise. It does not need the request any more. */
SHARDOPT_API int shardopt_search(const shardopt_request *request, const shardopt_hooks *hooks, shardopt_report **report,
                                 shardopt_error *error);
SHARDOPT_API void shardopt_report_free(shardopt_report *report); /* NULL does nothing */

/* ---- a report ---- */

/* One plan. */
typedef struct {
    char notation[512];  /* "data=2 fsdp=1024 sequence=1 tensor=4 expert=1 pipeline=1", and its knobs */
    char machine[96];    /* "8 x 4x32x64" */
    char launchers[320]; /* those that take it as it is, "maxtext jax"; "" means none */
    int64_t data, fsdp, sequence, tensor, expert, pipeline;
    int64_t chips_used, sequences;                  /* chips; sequences of its batch */
    double seconds;                                 /* of a step */
    double lower_seconds, upper_seconds;            /* with all communication hidden, and with none */
    double likely_low_seconds, likely_high_seconds; /* where a measured step is likely; 0 means not known */
    double mfu;                                     /* share of the dense peak */
    double tokens_per_second;                       /* of the whole machine */
    double hbm_bytes, hbm_limit_bytes;              /* of the fullest chip */
} shardopt_plan;

/* What the search covered. */
typedef struct {
    double plans_covered, plans_evaluated; /* the JSON report has them digit by digit */
    double gap;                            /* share; 0 means proven */
    double best_bound_seconds;             /* no plan that was left out is faster */
    double search_seconds;                 /* wall time */
} shardopt_proof;

SHARDOPT_API int shardopt_report_plan_count(const shardopt_report *report);
/* The plan of a rank, from 1. False: there is no plan of that rank. */
SHARDOPT_API bool shardopt_report_plan(const shardopt_report *report, int rank, shardopt_plan *plan);
/* Any figure of that plan, by its key in the JSON report below the plan: "step.bubble_seconds", "training.cost_usd".
 * False: there is no such figure, or it is not known. */
SHARDOPT_API bool shardopt_report_figure(const shardopt_report *report, int rank, const char *key, double *value);
/* The keys of a plan's figures and texts, from index 0, each with what it means; *meaning NULL: the key says it. The
 * texts are static. False: there is none of that index. */
SHARDOPT_API bool shardopt_plan_figure(int index, const char **key, const char **meaning);
/* Where the step of a plan goes: the name and the seconds of one of its terms, from 0; the terms add up to the step.
 * False: there is no such term. The name is static. */
SHARDOPT_API bool shardopt_report_term(const shardopt_report *report, int rank, int index, const char **name,
                                       double *seconds);
SHARDOPT_API void shardopt_report_proof(const shardopt_report *report, shardopt_proof *proof);

/* The report as "text", "json", "markdown", "html", "csv" or, where the request has the option "certificate",
 * "certificate": *text ends with a zero byte that *length does not count, and belongs to the caller (shardopt_free).
 * With the option "sensitivity" at "fast" or "all", "json" and "html" run up to fifty searches of their own. */
SHARDOPT_API int shardopt_report_write(shardopt_report *report, const char *format, char **text, size_t *length,
                                       shardopt_error *error);

SHARDOPT_API void shardopt_free(char *text); /* NULL does nothing */

/* ---- serving ---- */

/* An empty request of `shardopt inference`, whose options are set by their long names like those of a plan. */
typedef struct shardopt_serving_request shardopt_serving_request;
SHARDOPT_API shardopt_serving_request *shardopt_serving_request_new(void);
SHARDOPT_API void shardopt_serving_request_free(shardopt_serving_request *request); /* NULL does nothing */
SHARDOPT_API int shardopt_serving_request_set(shardopt_serving_request *request, const char *option, const char *value,
                                              shardopt_error *error);

typedef struct shardopt_front shardopt_front;

/* Searches the front. Of the hooks only `interrupted` is called. Returns the code, SHARDOPT_NO_PLAN where nothing fits
 * or keeps the limits; *front is NULL where it is SHARDOPT_INPUT or SHARDOPT_DEFECT, and belongs to the caller
 * otherwise. */
SHARDOPT_API int shardopt_serve(const shardopt_serving_request *request, const shardopt_hooks *hooks,
                                shardopt_front **front, shardopt_error *error);
SHARDOPT_API void shardopt_front_free(shardopt_front *front); /* NULL does nothing */

/* One point of the front. */
typedef struct {
    char notation[512]; /* "2 x tensor=4, batch 112" */
    char engine[32];    /* "vLLM"; "none": under no engine's rules */
    bool two_pools;
    int64_t chips_used;
    int64_t prefill_workers, workers; /* workers: of the pool that decodes; prefill_workers: 0 with one pool */
    int64_t batch;                    /* sequences in flight of one of them */
    double seconds_per_token, first_token_seconds;
    double tokens_per_second, tokens_per_second_per_user, tokens_per_second_per_chip;
    double hbm_bytes, hbm_limit_bytes; /* of a chip of that pool */
} shardopt_point;

SHARDOPT_API int shardopt_front_count(const shardopt_front *front);
/* The point of a rank, from 1, by falling tokens per second of a user. False: there is none. */
SHARDOPT_API bool shardopt_front_point(const shardopt_front *front, int rank, shardopt_point *point);
/* The rank of the best point within the limits; 0: the front is empty. */
SHARDOPT_API int shardopt_front_best(const shardopt_front *front);
/* As "text", "json", "markdown", "html" or "csv"; as shardopt_report_write(). */
SHARDOPT_API int shardopt_front_write(const shardopt_front *front, const char *format, char **text, size_t *length,
                                      shardopt_error *error);

/* ---- the program ---- */

/* Runs one command line of the program, argv[0] being its name, and returns its exit code. The result goes to `out`
 * alone; one line on what went wrong, and warnings, to `err`. Both are flushed and stay the caller's. */
SHARDOPT_API int shardopt_main(int argc, char **argv, FILE *out, FILE *err);

/* The same into memory, for callers that have no FILE: *result and *messages become texts that end with a zero byte,
 * for the caller to give to shardopt_free(). A NULL pointer means that the text is not wanted. Where memory is out both
 * texts are NULL, and the exit code is 70. */
SHARDOPT_API int shardopt_call(int argc, char **argv, char **result, char **messages);

#ifdef __cplusplus
}
#endif

#endif
