/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A search that a limit or an interrupt ends at its n-th look at the clock says nothing that the whole search does not
 * say: the first n, where a fallback begins, some over all. NTH_LOOKS=400: each up to 400, all requests, both ways. */
#include "search/answer/search_end.h"
#include "search/answer/tie.h"
#include "tests/sanitizer.h"
#include "tests/search/asked.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The first letters choose what is tried by default. */
static const char *const REQUESTS[] = {
    "plan --model 8b --chip h100 --nodes 1 --sequences 16 --seq 2048",
    "plan --model 70b --chip h100 --nodes 1 --lora --sequences 4",
    "plan --model 8b --chip h100 --nodes 1 --lora --sequences 12",
    "plan --model qwen3-30b-a3b --chip gh200 --nodes 8 --seq 8192 --sequences 96 --for deepspeed --hbm-reserve 0.3",
    "plan --model llama3.1-70b --chip h100 --nodes 2 --sequences 32 --seq 4096",
    "plan --model llama3.1-70b --chip a100-80g --nodes 2 --sequences 64 --seq 8192 --hbm-reserve 0.1",
    "plan --model 8b --chip 4090 --gpus 4 --qlora --sequences 2",
    "plan --model gpt2 --chip h100 --nodes 1 --sequences 64 --top 5",
    "plan --model 8b --chip v5e --slice 4x4 --batch 256Ki",
    "plan --model mixtral-8x7b --chip h100 --nodes 1 --sequences 32 --seq 2048",
    "plan --model 8b --chip h100 --nodes 1 --sequences 16 --seq 2048 --offload none",
    "plan --model 8b --chip h100 --nodes 1 --sequences 16 --seq 2048 --offload optimizer",
    "plan --model 8b --chip h100 --nodes 1 --sequences 16 --seq 2048 --offload activations",
    "plan --model 8b --chip h100 --nodes 1 --sequences 16 --seq 2048 --rank time",
    "plan --model 8b --chip h100 --nodes 1 --sequences 16 --seq 2048 --for any",
    "plan --model 8b --chip h100 --nodes 1 --sequences 16 --seq 2048 --for megatron --top 9",
    "plan --model 8b --chip h100 --nodes 1 --sequences 7 --seq 2048 --max-idle 0.5",
    "plan --model 8b --chip h100 --nodes 1 --sequences 15 --seq 2048 --batch-tolerance 10%",
    "plan --model 8b --chip h100 --nodes 1 --sequences 16 --seq 2048 --padding any",
    "plan --model 8b --chip h100 --nodes 1 --sequences 16 --seq 2048 --schedules all",
    "plan --model 8b --chip h100 --nodes 1 --sequences 16 --seq 2048 --nesting all",
    "plan --model 8b --chip h100 --nodes 1 --sequences 16 --seq 2048 --variants",
    "plan --model 8b --chip l4 --nodes 1 --sequences 16 --seq 2048",
    "plan --model 8b --chip l4 --nodes 2 --sequences 16 --seq 2048 --for megatron --hbm-reserve 0.3",
    "plan --model 8b --chip a100-40g --nodes 1 --sequences 16 --seq 4096",
    "plan --model 8b --chip gb200 --nodes 1 --sequences 64 --seq 4096 --top 3",
    "plan --model 8b --chip gh200 --nodes 4 --sequences 16 --seq 4096",
    "plan --model 8b --chip mi300x --nodes 1 --sequences 16 --seq 4096",
    "plan --model 8b --chip b200 --nodes 1 --sequences 16 --seq 4096 --precision fp8",
    "plan --model 8b --chip h200 --nodes 1 --sequences 16 --seq 16384",
    "plan --model 70b --chip h100 --nodes 1 --sequences 16 --seq 4096",
    "plan --model 70b --chip l4 --nodes 1 --sequences 16 --seq 4096",
    "plan --model 405b --chip h100 --nodes 1 --sequences 16 --seq 4096",
    "plan --model 32b --chip h100 --nodes 1 --sequences 16 --seq 4096",
    "plan --model 32b --chip a100-80g --nodes 1 --sequences 16 --seq 4096 --for megatron,torchtitan",
    "plan --model 32b --chip h100 --nodes 1 --sequences 16 --seq 4096 --for torchtitan,deepspeed",
    "plan --model gemma3-12b --chip h100 --nodes 1 --sequences 16 --seq 4096",
    "plan --model gemma2-9b --chip h100 --nodes 3 --sequences 16 --max-length 8192 --lora 16 --targets attention",
    "plan --model 8b --chip h100 --nodes 1 --sft",
    "plan --model 8b --chip a100 --gpus 8 --lora --batch 8192 --seq 2048",
    "plan --model 8b --chip h100 --nodes 1 --qlora --sequences 4",
    "plan --model 8b --chip h100 --nodes 1 --lora --sequences 10",
    "plan --model 8b --chip h100 --nodes 1 --lora --sequences 16 --offload parameters",
    "plan --model 70b --chip h100 --nodes 1 --qlora",
    "plan --model 70b --chip 4090 --gpus 8 --lora",
    "plan --model 8b --chip h100 --nodes 1 --task dpo --lora",
    "plan --model qwen1.5-moe-a2.7b --chip h100 --nodes 1 --sequences 16 --seq 2048",
    "plan --model gpt-oss-20b --chip h100 --nodes 1 --sequences 16 --seq 4096",
    "plan --model olmoe-1b-7b --chip h100 --nodes 1 --sequences 16 --seq 4096",
    "plan --model 8b --chip v5e --slice 4x4 --batch 256Ki --top 5",
    "plan --model 8b --chip v6e --slice 2x4 --batch 256Ki --offload none",
    "plan --model 8b --chip v5p --slice 2x2x4 --batch 256Ki --for jax",
    "plan --model gemma3-27b --chip v6e --slice 4x4 --batch 256Ki",
    "plan --model mixtral-8x7b --chip v5p --slice 2x2x4 --batch 256Ki",
    "plan --model 8b --chip v5e --slice 2x2 --batch 64Ki",
    "plan --model 8b --chip h100 --nodes 1 --sequences 16 --seq 2048 --require tensor=1",
    "plan --model 8b --chip h100 --nodes 1 --sequences 16 --seq 2048 --require pipeline=8",
    "plan --model 8b --chip h100 --nodes 1 --sequences 5 --seq 2048 --require tensor=1 --padding none",
    "plan --model 8b --chip h100 --nodes 1 --sequences 16 --seq 2048 --remat none",
    "plan --model 8b --chip h100 --nodes 1 --sequences 16 --seq 2048 --remat full",
};

/* A world whose clock stands still until the n-th look at it, and whose interrupt comes then where that is wanted. */
typedef struct {
    int64_t looks, last;
    bool interrupts;
} World;

static bool is_over(World *world) { return __atomic_add_fetch(&world->looks, 1, __ATOMIC_RELAXED) >= world->last; }

static double seconds(void *context) {
    World *world = context;
    return is_over(world) && !world->interrupts ? 1e9 : 0;
}

static bool interrupted(void *context) {
    World *world = context;
    return is_over(world) && world->interrupts;
}

static SearchResult search_until_look(Request *request, World *world, Arena *arena, const char *text) {
    SearchResult result;
    Error error = {0};
    request->control.environment = (Environment){.context = world, .seconds = seconds, .interrupted = interrupted};
    request->control.time_limit_seconds = world->interrupts ? 0 : 1;
    request->control.threads = 1;
    cr_assert(search_run(request, arena, &result, &error), "%s: look %lld: %s", text, (long long)world->last,
              error.text);
    return result;
}

static bool same_first(const SearchResult *a, const SearchResult *b) {
    if (a->plan_count == 0 || b->plan_count == 0) return a->plan_count == b->plan_count;
    const RankedPlan *left = &a->plans[0], *right = &b->plans[0];
    return left->ranked_seconds == right->ranked_seconds && left->seconds == right->seconds &&
           degrees_compare(&left->plan.degrees, &right->plan.degrees) == 0 &&
           knobs_compare(&left->plan.knobs, &right->plan.knobs) == 0 && a->faster_count == b->faster_count;
}

static double fastest_of(const SearchResult *result) {
    const RankedPlan *fastest = search_fastest(result);
    return fastest ? fastest->ranked_seconds : INFINITY;
}

/* Returns whether it claims a proof. */
static bool check(const SearchResult *some, const SearchResult *all, const World *world, const char *text) {
    const Certificate *certificate = &some->certificate;
    double best = fastest_of(all), found = fastest_of(some), bound = certificate->best_bound_seconds;
    const char *way = world->interrupts ? "interrupted" : "late";
    bool proven = certificate->proof == PROOF_OPTIMAL && !some->interrupted;
    SearchEnd end = search_end(some);
    cr_expect(!proven || same_first(some, all), "%s: %s at look %lld: proven, but %.9g s and not %.9g s", text, way,
              (long long)world->last, found, best);
    cr_expect(proven || min_real(bound, found) <= best * (1 + 1e-12),
              "%s: %s at look %lld: nothing below %.9g s, but %.9g s", text, way, (long long)world->last, bound, best);
    cr_expect(proven || end.bound_seconds <= best * (1 + 1e-12) || found <= best, "%s: %s at look %lld: end at %.9g s",
              text, way, (long long)world->last, end.bound_seconds);
    cr_expect(found >= best * (1 - 1e-12), "%s: %s at look %lld: %.9g s, below the optimum %.9g s", text, way,
              (long long)world->last, found, best);
    for (int i = 0; i < some->subproblem_count && all->subproblem_count == some->subproblem_count; i++) {
        const SubproblemAnswer *part = &some->subproblems[i], *whole = &all->subproblems[i];
        double least = whole->best ? whole->best->ranked_seconds : INFINITY;
        if (whole->end.kind == END_NONE_WITHIN || whole->end.kind == END_NOT_SEARCHED) continue;
        cr_expect(part->end.kind != END_OPTIMAL || !part->best || part->best->ranked_seconds >= least * (1 - 1e-12));
        cr_expect(part->end.bound_seconds <= least * (1 + 0.03) || part->end.kind == END_NONE_WITHIN ||
                      part->end.kind == END_GAP,
                  "%s: %s at look %lld: launcher %d: %s at %.9g s, and has %.9g s", text, way, (long long)world->last,
                  i, search_end_name(part->end.kind), part->end.bound_seconds, least);
    }
    return proven;
}

/* The looks of the searches before a fallback, where those have proven to have no plan; 0: no fallback is due. */
static int64_t looks_before_fallback(const Request *asked, bool interrupts, Arena *arena, const char *text) {
    Request request = *asked;
    Subproblem *list = ARENA_NEW(arena, Subproblem, (size_t)asked->subproblem_count + 1);
    World world = {.last = INT64_MAX, .interrupts = interrupts};
    cr_assert(list);
    request.subproblems = list;
    request.subproblem_count = 0;
    for (int i = 0; i < asked->subproblem_count; i++)
        if (!asked->subproblems[i].fallback) list[request.subproblem_count++] = asked->subproblems[i];
    if (request.subproblem_count == asked->subproblem_count || request.subproblem_count == 0) return 0;
    return search_until_look(&request, &world, arena, text).plan_count == 0 ? world.looks : 0;
}

static void try_request(const char *text, bool interrupts, int64_t each, int64_t *proofs, int64_t *gaps) {
    enum { SPREAD = 4, AROUND = 4 };
    RequestedSearch asked = {0};
    asked.request = ARENA_NEW(&asked.arena, Request, 1);
    cr_assert(asked.request && request_from_line(text, NULL, &asked.arena, asked.request), "%s", text);
    Request request = *asked.request;
    World whole = {.last = INT64_MAX, .interrupts = interrupts};
    SearchResult all = search_until_look(&request, &whole, &asked.arena, text);
    int64_t before = looks_before_fallback(asked.request, interrupts, &asked.arena, text);
    int64_t first = max_whole(1, before - AROUND), around = before > 0 ? 2 * AROUND : 0; /* where a fallback begins */
    for (int64_t i = 0, last = 1; last <= whole.looks + 1; i++) {
        Arena own = {0};
        World world = {.last = i < around ? first + i : last, .interrupts = interrupts};
        request = *asked.request;
        SearchResult some = search_until_look(&request, &world, &own, text);
        ++*(check(&some, &all, &world, text) ? proofs : gaps);
        arena_free(&own);
        if (i >= around) last += last < each ? 1 : max_whole(1, whole.looks / SPREAD);
    }
    asked_close(&asked);
}

Test(search, nth_look) {
    const char *wanted = getenv("NTH_LOOKS");
    int64_t each = wanted ? atoll(wanted) : 8, proofs = 0, gaps = 0;
    for (size_t i = 0; i < COUNT_OF(REQUESTS) / PROBLEMS_SHARE; i++)
        for (int interrupts = 0; interrupts < 2; interrupts++)
            if (wanted || i % 2 == (size_t)interrupts) try_request(REQUESTS[i], interrupts, each, &proofs, &gaps);
    cr_log_info("nth look: %lld ends that prove, %lld that leave something open", (long long)proofs, (long long)gaps);
    cr_expect(gaps > (int64_t)(COUNT_OF(REQUESTS) / PROBLEMS_SHARE));
}
