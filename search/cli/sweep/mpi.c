/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The only file that speaks MPI. Every message of a rank is answered by rank 0 with a point, -1 at the end: MARK
 * requests the first, ROW brings one and requests the next; FAILED is the last of a rank and has no answer. */
#include "search/cli/sweep/spread.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TAG_MARK = 1, TAG_ROW, TAG_FAILED, TAG_POINT };

/* Started alone, by hand or by a script: MPI would look for its daemons first, or start one. */
static bool launched(void) {
    static const char *const SIGNS[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK", "MPI_LOCALNRANKS"};
    for (size_t i = 0; i < sizeof SIGNS / sizeof SIGNS[0]; i++)
        if (getenv(SIGNS[i])) return true;
    return false;
}

SweepCrew spread_start(void) {
    SweepCrew crew = {0, 1, launched()};
    int provided, started = 0;
    if (!crew.launched) return crew;
    MPI_Initialized(&started);
    /* Threads plan inside of a rank; only its first one talks. */
    if (!started) MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &crew.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &crew.ranks);
    return crew;
}

void spread_end(SweepCrew crew) {
    (void)crew;
    int started = 0, ended = 0;
    MPI_Initialized(&started);
    MPI_Finalized(&ended);
    if (started && !ended) MPI_Finalize();
}

/* ---- rank 0 ---- */

/* Waiting in MPI_Recv would keep a core busy that another rank could plan with. Sleeps grow with what has passed: on a
 * busy machine, where points take long, looking all the time took a seventh of the processor; a message waits for a
 * sixteenth of its point at most. */
static void wait_for_message(MPI_Status *status) {
    enum { SHORTEST = 500000, LONGEST = 50000000 }; /* ns */
    int here = 0;
    long passed = 0;
    while (MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &here, status) == MPI_SUCCESS && !here) {
        long sleep = passed / 16 < SHORTEST ? SHORTEST : passed / 16 > LONGEST ? LONGEST : passed / 16;
        nanosleep(&(struct timespec){.tv_nsec = sleep}, NULL);
        if (passed < 16L * LONGEST) passed += sleep;
    }
}

/* The message that waits, with a NUL behind it; NULL: memory is out. */
static char *receive(const MPI_Status *status, int *length) {
    MPI_Get_count(status, MPI_CHAR, length);
    char *text = malloc((size_t)*length + 1);
    if (!text) return NULL;
    MPI_Recv(text, *length, MPI_CHAR, status->MPI_SOURCE, status->MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    text[*length] = '\0';
    return text;
}

/* What a message is to the sweep; false: it ends it. */
static bool take(const MPI_Status *status, const char *text, int length, const SweepLog *search_log, const char *mark,
                 Error *error) {
    switch (status->MPI_TAG) {
    case TAG_ROW:
        return search_log->deliver(search_log->of, text, (size_t)length, error);
    case TAG_FAILED:
        if (length == (int)sizeof *error) memcpy(error, text, sizeof *error);
        return false;
    default:
        return strcmp(text, mark) == 0 ||
               error_set(error, ERROR_INPUT, "mpirun",
                         "rank %d has another version of the program, other data files or other options than rank 0; "
                         "install the same everywhere",
                         status->MPI_SOURCE);
    }
}

bool spread_serve(SweepCrew crew, const SweepLog *search_log, const char *mark, Error *error) {
    bool ok = true;
    for (int left = crew.ranks - 1; left > 0;) {
        MPI_Status status;
        int length = 0;
        int64_t point = -1;
        wait_for_message(&status);
        char *text = receive(&status, &length);
        if (!text) MPI_Abort(MPI_COMM_WORLD, 70); /* a message that cannot be taken blocks its sender for ever */
        if (search_log && ok) ok = take(&status, text, length, search_log, mark, error);
        free(text);
        if (search_log && ok) point = search_log->next(search_log->of);
        if (point < 0) left--;
        if (status.MPI_TAG != TAG_FAILED)
            MPI_Send(&point, 1, MPI_INT64_T, status.MPI_SOURCE, TAG_POINT, MPI_COMM_WORLD);
    }
    return ok;
}

/* ---- the others ---- */

static const char *unsent_mark; /* NULL: it is with rank 0 */

static int64_t ask(void *of) {
    (void)of;
    int64_t point = -1;
    if (unsent_mark) MPI_Send(unsent_mark, (int)strlen(unsent_mark), MPI_CHAR, 0, TAG_MARK, MPI_COMM_WORLD);
    unsent_mark = NULL;
    MPI_Recv(&point, 1, MPI_INT64_T, 0, TAG_POINT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return point;
}

static bool send_row(void *of, const char *row, size_t length, Error *error) {
    (void)of;
    if (length > INT32_MAX) return error_set(error, ERROR_INTERNAL, "sweep", "a row is too long; this is a defect");
    MPI_Send(row, (int)length, MPI_CHAR, 0, TAG_ROW, MPI_COMM_WORLD);
    return true;
}

SweepLog spread_remote(const char *mark) {
    unsent_mark = mark;
    return (SweepLog){NULL, ask, send_row};
}

void spread_fail(const Error *error) { MPI_Send(error, (int)sizeof *error, MPI_CHAR, 0, TAG_FAILED, MPI_COMM_WORLD); }
