/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever the bytes are, xplane_read says yes or no, and what it takes can be added up (traces.h): of the whole file,
 * and of each device as soon as it is read, as the command takes them. Bytes come in pieces of any size.
 *
 * libFuzzer: clang -fsanitize=fuzzer,address,undefined; without clang, -DSHARDOPT_FUZZ_MAIN runs the files given. */
#include "cost/trace/formats/xplane.h"
#include "tests/fuzz/traces.h"

typedef struct {
    ByteText text;
    size_t most; /* bytes at once */
} Pieces;

static ptrdiff_t read_piece(void *context, char *bytes, size_t room) {
    Pieces *pieces = context;
    ByteSource source = byte_source_of_text(&pieces->text);
    return source.read(source.context, bytes, room < pieces->most ? room : pieces->most);
}

static bool check_device(Recording *recording, void *context, Error *error) {
    const PlanShape shape = {.known = false};
    Arena arena = {0};
    RankTraces traces = {0};
    (void)context;
    bool ok = rank_traces(recording, "fuzz", &shape, &arena, &traces, error);
    for (int i = 0; i < traces.count; i++) check_rank(&traces.ranks[i]);
    arena_free(&arena);
    return ok;
}

static bool read(const char *bytes, size_t size, Recording *out, Error *error) {
    Pieces pieces = {{bytes, size}, 1 + size % 977};
    return xplane_read((ByteSource){read_piece, &pieces}, "fuzz", out, error);
}

static bool read_devices(const char *bytes, size_t size, Recording *out, Error *error) {
    out->take = check_device;
    return read(bytes, size, out, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    check_trace(data, size, read);
    check_trace(data, size, read_devices);
    return 0;
}
