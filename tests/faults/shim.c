/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Preloaded into the program by run.py, this makes one call of the C library fail, or counts how many there are.
 *
 *     FAULT_CALL   malloc (with calloc, realloc and their kin), read, write, fsync, rename, open, or thread
 *     FAULT_NTH    which call of that kind fails, from 1; 0: none, and FAULT_COUNT has how many there were
 *     FAULT_EVERY  set: all later ones too
 *     FAULT_COUNT  a file for the count, written at the end
 *     FAULT_LOCALE set: the locale that the program is in, as if a host had set it
 *     FAULT_STOP   the number of a signal that is sent there instead
 *
 * What the loader does before main() does not count. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

enum { KIND_NONE, KIND_MALLOC, KIND_READ, KIND_WRITE, KIND_FSYNC, KIND_RENAME, KIND_OPEN, KIND_THREAD };
static const char *const NAMES[] = {"", "malloc", "read", "write", "fsync", "rename", "open", "thread"};
static int kind, every, stop;
static long nth;
static atomic_long calls;

__attribute__((constructor)) static void begin(void) {
    const char *call = getenv("FAULT_CALL"), *which = getenv("FAULT_NTH"), *locale = getenv("FAULT_LOCALE");
    for (int i = 1; call && i <= KIND_THREAD; i++)
        if (strcmp(call, NAMES[i]) == 0) kind = i;
    nth = which ? atol(which) : 0;
    every = getenv("FAULT_EVERY") != NULL;
    stop = getenv("FAULT_STOP") ? atoi(getenv("FAULT_STOP")) : 0;
    if (locale && !setlocale(LC_ALL, locale)) _exit(99);
}

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("FAULT_COUNT");
    char text[32];
    kind = KIND_NONE;
    int descriptor = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644) : -1;
    int length = snprintf(text, sizeof text, "%ld\n", (long)calls);
    if (descriptor >= 0 && write(descriptor, text, (size_t)length) != length) _exit(98);
}

/* Whether this call of that kind fails, with that errno. */
static int fails(int of, int error) {
    if (of != kind) return 0;
    long call = atomic_fetch_add(&calls, 1) + 1;
    if (nth == 0 || !(call == nth || (every && call > nth))) return 0;
    if (stop) return raise(stop), 0;
    errno = error;
    return 1;
}

void *malloc(size_t size) { return fails(KIND_MALLOC, ENOMEM) ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return fails(KIND_MALLOC, ENOMEM) ? NULL : __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return fails(KIND_MALLOC, ENOMEM) ? NULL : __libc_realloc(old, size); }
void *aligned_alloc(size_t align, size_t size) {
    return fails(KIND_MALLOC, ENOMEM) ? NULL : __libc_memalign(align, size);
}
int posix_memalign(void **out, size_t align, size_t size) {
    if (fails(KIND_MALLOC, ENOMEM)) return ENOMEM;
    *out = __libc_memalign(align, size);
    return *out ? 0 : ENOMEM;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t read(int descriptor, void *to, size_t size) {
    return fails(KIND_READ, EIO) ? -1 : NEXT(read)(descriptor, to, size);
}
ssize_t write(int descriptor, const void *from, size_t size) {
    return fails(KIND_WRITE, ENOSPC) ? -1 : NEXT(write)(descriptor, from, size);
}
ssize_t writev(int descriptor, const struct iovec *from, int count) {
    return fails(KIND_WRITE, ENOSPC) ? -1 : NEXT(writev)(descriptor, from, count);
}
/* The library's own writes are not ours to see, but that a stream to a file is flushed. */
int fflush(FILE *stream) {
    return stream && fileno(stream) >= 0 && fails(KIND_WRITE, ENOSPC) ? EOF : NEXT(fflush)(stream);
}
int fsync(int descriptor) { return fails(KIND_FSYNC, EIO) ? -1 : NEXT(fsync)(descriptor); }
int rename(const char *from, const char *to) { return fails(KIND_RENAME, EXDEV) ? -1 : NEXT(rename)(from, to); }
int open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    int mode = flags & O_CREAT ? va_arg(arguments, int) : 0;
    va_end(arguments);
    return fails(KIND_OPEN, EMFILE) ? -1 : NEXT(open)(path, flags, mode);
}
int pthread_create(pthread_t *thread, const pthread_attr_t *with, void *(*run)(void *), void *of) {
    return fails(KIND_THREAD, EAGAIN) ? EAGAIN : NEXT(pthread_create)(thread, with, run, of);
}
