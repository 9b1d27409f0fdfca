/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Linked into the library of lines.py, whose every block calls in here (gcc's -fsanitize-coverage=trace-pc): each marks
 * the byte of its place in the file that SHARDOPT_TRACE names. The file is shared by all processes of a test, those of
 * its shells too, and holds what was marked however they end. */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

extern const char __ehdr_start __attribute__((visibility("hidden"))); /* the linker's: where the library begins */

static unsigned char *marks;
static size_t marks_size;

__attribute__((constructor(101))) static void marks_open(void) {
    const char *path = getenv("SHARDOPT_TRACE");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    struct stat is;
    if (file < 0 || fstat(file, &is) != 0) return;
    void *at = mmap(NULL, (size_t)is.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (at == MAP_FAILED) return;
    marks_size = (size_t)is.st_size;
    marks = at;
}

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void) {
    size_t at = (size_t)((const char *)__builtin_return_address(0) - &__ehdr_start);
    if (at < marks_size && !marks[at]) marks[at] = 1;
}
