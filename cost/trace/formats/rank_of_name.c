/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/trace/formats/formats.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

int64_t trace_rank_of_name(const char *path) {
    static const char *const BEFORE[] = {"rank", "worker", "kineto"};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < COUNT_OF(BEFORE); i++) {
        const char *at = strcasestr(name, BEFORE[i]);
        if (!at) continue;
        at += strlen(BEFORE[i]);
        at += strspn(at, "-_.=");
        size_t digits = strspn(at, "0123456789");
        if (digits > 0 && digits < 10) return strtoll(at, NULL, 10);
    }
    return -1;
}
