/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/request/request.h: what was requested, resolved: every option that can change the answer, with the defaults
 * filled in. Words are what is stored: a report keeps its options as they are typed, and whoever reads it (explain,
 * check, emit, a refit, the library) resolves them again by request_from_options(), so that there is one reader. */
#pragma once

#include "cost/plan/knobs.h"
#include "cost/profile/doubt.h"
#include "cost/profile/profile.h"
#include "cost/stage/stage.h"
#include "mesh/machine.h"
#include "search/request/environment.h"
#include "search/request/lengths.h"

#include <cjson/cJSON.h>

/* Launchers are numbers here, from 0 to LAUNCHERS_MAX - 1; which they are stands in search/launch/launchers.c. */
enum { LAUNCHERS_MAX = 32 };
typedef uint32_t LauncherSet; /* a bit for each */

/* Schedules that some launcher runs; the others are in the space when requested. */
enum {
    SCHEDULES_LAUNCHABLE =
        1u << SCHEDULE_GPIPE | 1u << SCHEDULE_1F1B | 1u << SCHEDULE_INTERLEAVED | 1u << SCHEDULE_CIRCULAR,
    SCHEDULES_ALL = SCHEDULES_LAUNCHABLE | 1u << SCHEDULE_ZB_H1 | 1u << SCHEDULE_DUALPIPE
};
/* "launchable", "all", or names with commas. */
bool schedules_parse(const char *text, const char *where, unsigned *out, Error *error);
enum { SCHEDULES_TEXT_SIZE = 80 };
const char *schedules_text(unsigned schedules, char text[SCHEDULES_TEXT_SIZE]);

typedef enum { OBJECTIVE_TIME, OBJECTIVE_CHIP_HOURS, OBJECTIVE_COST, OBJECTIVE_COUNT } Objective;
const char *objective_name(Objective objective); /* as the option spells it: "time" "chip-hours" "cost" */

const char *padding_rule_name(PaddingRule rule); /* "none" "launchable" "any" */

/* A condition of --require: degree of a role = / <= / >= a number; or a knob by its name in reports, one that has names
 * only = one of them. `either` of ROLE_EXPERT is what launchers call EP: experts on an axis of their own, or folded
 * onto the ranks of other roles; a plan has at most one of the two. */
typedef enum { REQUIRE_EQUAL, REQUIRE_AT_MOST, REQUIRE_AT_LEAST } RequireOp;
typedef struct {
    Role role;
    RequireOp op;
    int64_t degree; /* or the knob's setting, as knob_setting() has it */
    Knob knob;      /* KNOB_NONE means a role */
    bool either;    /* EP: the role's degree or KNOB_FOLDED_EXPERT, whichever is larger */
} Requirement;
enum { REQUIREMENTS_MAX = 32 };

/* One factor above 1 of a placement that is requested whole. */
typedef struct {
    char axis[12]; /* as the mesh names it */
    Role role;
    int64_t factor;
} Pin;
enum { PINS_MAX = MESH_AXES_MAX * ROLE_COUNT };

/* Where a number came from, for the report. */
typedef enum { FROM_OPTION, FROM_MODEL, FROM_DEFAULT } Origin;

/* What is said of failures in the training; what is not said is the catalog's and the profile's. All zero but
 * restart_seconds, which is then below 0. */
typedef struct {
    bool never;                      /* --mtbf none */
    double mtbf_seconds;             /* of the job; 0 means not said */
    double restart_seconds;          /* below 0 means not said */
    double storage_bytes_per_second; /* 0 means not said */
} FailureRequest;

/* What of the model is trained, and on what; all zero means that all weights are, as pre-training does. */
typedef struct {
    Tuning what;
    bool pairs;           /* a sample is two sequences */
    int64_t seq;          /* tokens of a computed sequence */
    int64_t longest;      /* tokens of a sample, at most */
    int64_t sequences;    /* of a step where nobody says how many */
    double sample_tokens; /* computed for a sample, wherever that is the same in every plan */
    Packing packing;
    const Lengths *lengths; /* of samples that vary; NULL: a mean, or none */
    double samples, epochs;
} FineTuning;

/* The options of fine-tuning, without their dashes. */
enum { TUNING_LORA, TUNING_QLORA, TUNING_TARGETS, TUNING_FREEZE, TUNING_TASK, TUNING_MEAN_LENGTH, TUNING_MAX_LENGTH };
enum { TUNING_PACKING = TUNING_MAX_LENGTH + 1, TUNING_SAMPLES, TUNING_EPOCHS, TUNING_LENGTHS, TUNING_WORD_COUNT };
enum { TUNING_WORD_SIZE = 96 };
extern const char *const TUNING_WORDS[TUNING_WORD_COUNT];

/* What is requested: which model, trained how, on which machine, priced with which figures. */
typedef struct {
    Model model;
    Chip chip;
    Chip device; /* one of several devices of a chip (tpu7x); else not used: request_cost_context() */
    Machine machine;
    Profile profile;
    const ProfileDoubts *doubts; /* about it; NULL: not known */
    Work work;                   /* sequences, seq: what is used */
    double training_tokens;
    FineTuning tuning;
    FailureRequest failing;
    Precision precision;
    StateDtypes state_dtypes;
    TrainingState state;       /* of the model under both; all zero means training_state_default() */
    RematRule remat;           /* not required: the layout decides, */
    const RematDomain *domain; /* among what the launchers requested can express; NULL means freely */
    Offload offload;           /* what may go to the host */
    HostUpdate host_update;    /* who updates state there: the way of the launchers requested */
    double hbm_reserve;        /* share of HBM */
    Objective objective;
} Question;

/* Which plans are in the space. */
typedef struct {
    Nesting nesting;    /* order of the roles on each axis */
    bool nesting_all;   /* every order is searched; `nesting` is the canonical one */
    unsigned schedules; /* a bit for each Schedule in the space */
    RoleSet roles;      /* expert only for mixtures */
    Requirement requirements[REQUIREMENTS_MAX];
    int requirement_count;
    LauncherSet launchers;  /* --for; 0 means any */
    LauncherSet unable;     /* that take no plan of the request: launchers_refusing_work() */
    double max_idle;        /* share */
    double batch_tolerance; /* share */
    PaddingRule padding;
    Pin pins[PINS_MAX]; /* only this placement; `explain --from` sets it, no option does */
    int pin_count;      /* 0 means any placement */
    bool split_given;   /* of layers to stages, by a plan that is given: balanced is no copy of an even one then */
} SpaceRules;

/* Degrees at which a good plan is expected, with about the ranked time of it. */
typedef struct {
    Degrees degrees;
    double seconds;
} SearchSeed;
enum { SEEDS_MAX = 4 };

/* Bytes that a search may take where nobody says it, and the least that one can be done with. */
#define MEMORY_USUAL INT64_C(4000000000)
#define MEMORY_LEAST INT64_C(256000000)

/* Which searches a report makes around the plan's: those that take no more work than it did, none, or all. */
typedef enum { SENSITIVITY_FAST, SENSITIVITY_NONE, SENSITIVITY_ALL, SENSITIVITY_ROWS } SensitivityMode;

/* How a search is run: what it returns, when it ends, on how many threads. */
typedef struct {
    int top;
    /* Plans within this share of the fastest, which the model cannot tell apart, are put in the order of what is surer
     * (search/answer/tie.h), however many are returned; 0: all plans stand by their time. */
    double tie;
    bool odd_only; /* only plans of which something is odd (search/answer/odd.h) are looked for */
    bool by_time;  /* --rank time: by their step alone, whatever is odd or tied */
    bool variants;
    /* Answers that differ in kind in place of the next best, which are near equivalents: what a report shows where
     * nobody says how many (--top) or requests equivalents (--variants). */
    bool different;
    bool each; /* with subproblems: the best plan of each of them, whatever `top` says */
    bool brute_force;
    bool keep_search_log;       /* the result keeps what --certificate writes */
    int threads;                /* 0 means OpenMP's own choice */
    double gap;                 /* a share: a first plan that is open by no more counts as proven */
    double time_limit_seconds;  /* 0 means none; it is kept only where the world has a clock */
    int64_t memory_limit_bytes; /* of one search; 0: MEMORY_USUAL, or more where there are many threads */
    Environment environment;    /* clock, interrupt and progress, handed in by the caller */
    struct PlanCounts *counts;  /* that searches hand on to each other (search/engine/space/plan_count.h); NULL: none */
    struct CachePool *caches; /* that searches hand on to each other (search/engine/explore/cache_pool.h); NULL: none */
    /* Only plans up to this ranked time are wanted; 0 means all. No option sets it: searches around a known answer
     * do. */
    double limit_seconds;
    /* The search ends with a gap after so much work, counted in bounds, so that any number of threads ends alike; 0: no
     * limit. */
    int64_t work_limit;
    SensitivityMode sensitivity;
    /* A good plan will do: only what is near the seeds or a sample is looked at, and the search ends with a gap. */
    bool quick;
    bool within_limit_is_little; /* there is hardly anything up to the limit: the search goes to it at once */
    /* Looked at first, so that the rest is compared with what is found there. They change how long a search takes, and
     * not what it answers. */
    SearchSeed seeds[SEEDS_MAX];
    int seed_count;
    /* Tests alone set it, to see that a wrong bound is noticed: the bounds of degrees are multiplied by 1 + this. */
    double bound_error;
    double range_error; /* the same for the bounds of ranges of microbatches */
    bool samples;       /* a sample is searched before any space, not only before a large one */
    /* Nobody reads how many plans there are and what became of them: they are not counted, settings of knobs that the
     * conditions exclude are not looked at, and every number of plans in the certificate is without meaning. */
    bool uncounted;
} SearchControl;

/* The words that were given, for reports to print again, and where numbers came from. */
typedef struct {
    char model[512];
    MachineRequest machine_request;
    char words[512];  /* the options that ask, as a command line has them: "--model 70b --nodes 8"; "" where long */
    char choices[96]; /* and those that choose among answers: "--for megatron --top 3" */
    char typed_seq[16], typed_batch[16]; /* --seq and --batch as they were typed, where that is short; else "" */
    char machine[96];                    /* "--pods 8", "--slice 16x20x28 --slices 8" */
    char profile[256];
    char stack[PROFILE_NAME_SIZE]; /* "" means the best current one of the chip */
    char optimizer[256];
    const char *nesting;                              /* as --nesting spells it */
    bool nesting_said;                                /* by --nesting; else each launcher has its own */
    LauncherSet launchers;                            /* --for, or the usual launchers of the chip; 0 means any */
    Origin launchers_origin;                          /* FROM_OPTION or FROM_DEFAULT */
    StateDtypes state_dtypes;                         /* --state-dtypes alone */
    double batch_tokens;                              /* before rounding to whole sequences */
    char tuning[TUNING_WORD_COUNT][TUNING_WORD_SIZE]; /* as typed; "" means not said */
    double time_limit_seconds; /* of all launchers together: each has a share of it in its control */
    bool offload;                                     /* --offload was given: request_offload() */
    double hbm_reserve;                               /* --hbm-reserve */
    Origin reserve_origin;                            /* FROM_DEFAULT: request_default_reserve() */
    Origin batch_origin, seq_origin, tokens_origin;
    bool seq_beyond_model; /* the sequence is longer than the model's longest: a warning */
} Requested;

/* What changes with who launches: the software that prices, what it can express, the order of its roles. */
typedef struct {
    LauncherSet launchers; /* one bit; 0 means a layout that no launcher has to take */
    Profile profile;
    const ProfileDoubts *doubts;
    const RematDomain *domain;
    HostUpdate host_update;
    Nesting nesting;
    const char *nesting_name;
    StateDtypes state_dtypes; /* as it keeps them where nobody says so */
    TrainingState state;
    bool parameters_on_host; /* fine-tuning with the parameters in the host's memory: Tuning.on_host */
    bool fallback;           /* searched only where all others have proven that they have no plan */
} Subproblem;
enum { CONTENDERS_MAX = 2 * (LAUNCHERS_MAX + 1) }; /* with parameters in HBM, and on the host */

typedef struct {
    Question question;
    SpaceRules space;
    SearchControl control;
    Requested requested;
    /* Where plans are for one of several launchers, each with its own software: one search for each, and the best of
     * them is the answer (search/engine/search.h). The request's own fields are those of the first. None: the request
     * is searched as it is. */
    const Subproblem *subproblems;
    int subproblem_count;
} Request;

/* Plans within this share of the fastest are tied: the model, which is right within 3% (dense) to 6%, does not order
 * them. A search counts as proven with a first plan that is open by no more than the other. */
#define TIE 0.02
#define GAP_USUAL 0.005
/* The ranked time up to which plans count as tied with the fastest of a search, which takes `fastest`. */
double tie_end(const SearchControl *control, double fastest);

#define RESERVE_MOST 0.9

/* The share of HBM that is kept free where nobody says how much: what the device holds in addition to the plan's own
 * bytes (context, communicators, the allocator's spare), and so much for the errors of the memory model
 * (Profile.hbm_error) that a plan which fills the rest fits nine times in ten; where those are not known, 8%; never
 * less than the compiler needs (Profile.least_reserve). */
double request_default_reserve(const Request *request);

/* The request as it is for one of its subproblems, which has none itself. `out` may be the request. */
void request_for(const Request *request, const Subproblem *subproblem, Request *out);

/* The setting that plans of this request are priced with. Points into the request. */
CostContext request_cost_context(const Request *request);

/* Whether degrees, and whether the knobs of a plan of such degrees, meet --require. */
bool request_admits(const Request *request, const Degrees *degrees);
bool request_admits_knobs(const Request *request, const Degrees *degrees, const Knobs *knobs);
/* The same, of the conditions on some knobs alone. */
bool request_admits_some(const Request *request, const Degrees *degrees, const Knobs *knobs, KnobSet which);

/* Whether a placement is the one that is pinned. */
bool request_admits_placement(const Request *request, const Mesh *mesh, const Placement *placement);

/* A placement as pins, its factors above 1; returns how many. */
int pins_of_placement(const Mesh *mesh, const Placement *placement, Pin out[PINS_MAX]);

/* "tensor=4 pipeline<=8 schedule=1f1b": role, = <= or >=, number from 1 to 2^31, or knob and setting; blanks or commas
 * between conditions. Adds them to the `*count` in `list`; more than REQUIREMENTS_MAX, and conditions that nothing can
 * meet, are errors. */
bool requirements_parse(const char *text, const char *where, Requirement list[REQUIREMENTS_MAX], int *count,
                        Error *error);

enum { REQUIREMENTS_TEXT_SIZE = REQUIREMENTS_MAX * 48 };
/* The conditions as requirements_parse() reads them; "" when there are none. Returns `text`. */
const char *requirements_text(const Request *request, char text[REQUIREMENTS_TEXT_SIZE]);

/* Adds every option in force that can change the answer to a report's `request` object: keys are the options' names
 * with _ for -, values what the option takes (shares as numbers, "for" with commas). The command line reads it back
 * (`explain --from`). `launchers`: who is requested, as --for takes it (request_launchers()). False: memory is out. */
bool request_add_json(const Request *request, const char *launchers, cJSON *to);

/* What may go to the host, as --offload says it, or by default. */

/* Whether half of the host's memory has room for the parameters of what is fine-tuned, as they lie. */
bool request_has_host_room(const Request *request);

/* What a plan that somebody names puts on the host, unless --offload was given: what --require and --remat have there,
 * and activations on TPUs and where the link to the host is coherent. To be called when a condition was added. */
void request_settle_offload(Request *request);

/* Takes what --offload says. "auto" and NULL: everything, wherever the catalog knows the host's memory. False: *error
 * says how that contradicts --require, --remat or the machine; `where` names the option. */
bool request_offload(const char *text, const char *where, Request *request, Error *error);
