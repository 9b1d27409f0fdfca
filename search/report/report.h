/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/report/report.h: a search turned into an answer: the ranked plans, the ways out where sizes do not divide,
 * what would help. */
#pragma once

#include "base/sha256.h"
#include "base/text/terminal.h"
#include "search/engine/search.h"

#include <stdio.h>

typedef enum {
    ALTERNATIVE_AS_ASKED, /* this machine whole, nothing padded */
    ALTERNATIVE_IDLE,     /* fewer chips: as many idle as requested, nothing padded */
    ALTERNATIVE_BATCH,    /* another batch (at least 10% either way), padding that launchers take */
    ALTERNATIVE_PADDED,   /* pad anything */
    ALTERNATIVE_OFF_SIZE, /* another slice shape of as many chips */
    ALTERNATIVE_COUNT
} Alternative;

static const double ALTERNATIVE_TOLERANCE = 0.1; /* of ALTERNATIVE_BATCH, where less was requested */

/* A file that an answer rests on. */
typedef struct {
    const char *file; /* "models/zoo/gpt2.json": from the data folder on; else as the user named it; NULL: not known */
    char sha256[SHA256_HEX_SIZE];
} DataFile;

/* The files of data that a plan is priced with. */
typedef enum { DATA_MODEL, DATA_CHIP, DATA_PROFILE, DATA_OPTIMIZER, DATA_COUNT } DataPart;
const char *data_part_name(DataPart part); /* "model" "chip" "profile" "optimizer" */

typedef struct {
    bool tried, found;
    bool cut_short;   /* a time limit ended its search */
    bool left_out;    /* cut short because it took more work than --sensitivity lets it have */
    bool none_faster; /* only what is no slower than plan 1 was looked for, and there is nothing */
    bool skipped;     /* not searched: more batches of a mixture on GPUs than a side question is worth */
    RankedPlan best;
} AlternativeResult;

/* "What would help most": the change of the best step when one thing changes. */
typedef enum {
    HELP_ONE_MORE, /* node, slice or pod; or twice the chips */
    HELP_BATCH,    /* twice the batch */
    HELP_SCALE_UP,
    HELP_SCALE_OUT,
    HELP_HBM,
    HELP_BANDWIDTH, /* of HBM */
    HELP_COUNT
} Help;
typedef struct {
    Help help;
    char text[64];   /* "batch 32Mi", "ICI +10%", "HBM +10%", "one more pod" */
    bool found;      /* false: no plan fits then */
    double relative; /* seconds per token over those of the best - 1 */
    const RankedPlan
        *best; /* that of the changed request; NULL: it is slower per token than plan 1 now is, if any fits */
} Sensitivity;
enum { SENSITIVITIES_MAX = 8 };

/* The measured run that is nearest to the request, and what the model says of it. Texts are in the caller's arena. */
typedef struct {
    const char *id, *source, *framework, *model, *chip, *precision, *plan;
    int64_t chips, seq;
    double measured, predicted; /* tokens/s per chip */
    double flops_per_token;     /* of its model, causal */
    /* Model FLOP/s of a chip that were measured: what tokens/s are for another model or length. Where the request's
     * precision has a higher peak than the run's, as much more. */
    double flops_per_second;
} MeasuredRun;

/* What leaving more HBM free costs. */
typedef struct {
    double free_share; /* of HBM, beyond the reserve */
    bool found;
    double relative; /* ranked seconds over those of plan 1 - 1 */
} Headroom;
enum { HEADROOM_STEPS = 3, ROWS_DIFFERENT = 5 };

typedef struct {
    const Request *request;   /* as it was answered: of the launcher whose plan is the first */
    const Request *requested; /* with all its subproblems */
    Headroom headroom[HEADROOM_STEPS];
    int headroom_count;
    enum {
        HOST_NOT_KNOWN,
        HOST_IS_NEEDED, /* plan 1 has something on the host, and there is no plan in HBM alone */
        HOST_IS_FASTER, /* so it has, and in HBM alone the step takes `host_other` */
        HOST_IS_NEAR,   /* it has nothing there, and the fastest with the optimizer's state there takes that */
    } host;
    double host_other; /* seconds */
    bool has_free;     /* a layout that no launcher has to take is faster than plan 1: */
    RankedPlan free;
    bool free_or_less; /* only a quick search ran: some layout may take less */
    SearchResult result;
    AlternativeResult alternatives[ALTERNATIVE_COUNT];
    Sensitivity sensitivities[SENSITIVITIES_MAX];
    int sensitivity_count;
    /* No plan fits: the nearest machines that do; where sizes do not divide, the best ways out. */
    RankedPlan nearest[3];
    int nearest_count;
    /* And of fine-tuning: what else would make it fit on this machine, or one GPU more. */
    struct {
        char words[32]; /* as one types it */
        RankedPlan best;
    } ways_out[4];
    int way_out_count;
    /* Left empty by report_make; the command may fill it: names the data files the answer rests on
     * (search/options/data_files.h).
     * */
    char data_sha256[SHA256_HEX_SIZE];
    DataFile data[DATA_COUNT];               /* those that this very answer rests on; likewise */
    const struct BestComparison *comparison; /* search/report/compare_to_best.h; NULL: not requested */
    const MeasuredRun *measured;             /* likewise; NULL: none is near */
    const struct Around *around;             /* search/report/around.h; NULL: not made */
    int left_out;        /* searches around the search that took more work than --sensitivity fast lets them have */
    int64_t work_limit;  /* of each of them; 0: none */
    double seconds_left; /* of --time-limit, for the searches around the search; below 0: no limit */
    int64_t effort;      /* of all searches so far: search_effort() of search/report/side_searches.h */
    int64_t plan_effort; /* of those that the shortest text of it has: what STAGE_WAYS begins with */
    int searches;        /* how many there were in addition to the plan's */
} Report;

/* By how much a plan's model FLOP/s are above those of the measured run that is nearest, as a share; 0: none is near,
 * or the plan is not above it by more than its own step may be off (the likely range). */
double report_claim(const Report *report, const RankedPlan *ranked);

/* How far a report is made; what comes later is empty in it until then. */
typedef enum {
    STAGE_PLAN, /* plan 1 and the best of each launcher, or the top, with their proof */
    STAGE_ROWS, /* rows of other kinds, a free layout, what headroom costs */
    STAGE_WAYS, /* the ways out */
    STAGE_WHOLE,
    STAGE_COUNT
} ReportStage;

/* Who reads a report while it is made. */
typedef struct {
    /* Called once for each stage, in order. False ends the making, with *error set. NULL: nobody reads before the
     * end. */
    bool (*made)(void *context, Report *report, ReportStage stage, Error *error);
    void *context;
} ReportReader;

/* Runs the search, and what the report needs around it: each a search of its own with top 1. Where the best plan uses
 * the whole machine as requested with nothing padded, no way out is tried (ways[].tried false); brute force, and a
 * search that a limit ended, try no sensitivities. */
bool report_make(const Request *request, Arena *arena, Report *report, Error *error);
/* The same for a reader. */
bool report_make_for(const Request *request, const ReportReader *reader, Arena *arena, Report *report, Error *error);

/* As text (80 to 120 columns, no colour needed) and as JSON (contract, format_version 1). Built in memory by the
 * caller's stream. */
bool report_write_text(const Report *report, TextOut out, Error *error);
/* What a stage adds to the text; all stages in order are the whole text. */
bool report_write_text_stage(const Report *report, ReportStage stage, TextOut out, Error *error);
/* The same in a screen: what it needs of a stage is at most BRIEF_LINES lines with what the stages before it wrote,
 * unless more rows were requested or a narrow terminal breaks them. */
enum { BRIEF_LINES = 24 };
bool report_write_brief_stage(const Report *report, ReportStage stage, TextOut out, Error *error);
bool report_write_json(const Report *report, bool brief, FILE *out, Error *error);
/* The page: the same document in a file that shows it (base/text/page.h). */
bool report_write_html(const Report *report, FILE *out, Error *error);
/* Adds to `json` what a line of `explain --plans` has of a plan. False: memory is out. */
bool report_add_line(cJSON *json, const Request *request, const RankedPlan *ranked);

/* The JSON report as a tree, for the caller to free. NULL means that memory is out. json_settle() makes it readable. */
cJSON *report_json(const Report *report, Error *error);

/* The same with what people read in addition: words, searches around the search, the step in time, every figure. */
cJSON *report_document(const Report *report, Error *error);

/* One plan in full (`explain`), rank from 1: every op, every collective with its footprint and rate, memory at every
 * moment, the layout. */
bool explain_write_text(const Report *report, int rank, TextOut out, Error *error);
