/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/threads.h"

#include <criterion/criterion.h>
#include <omp.h>
#include <sys/resource.h>

Test(threads, as_asked_and_bounded) {
    cr_expect_eq(threads_usable(1), 1);
    cr_expect_eq(threads_usable(3), 3);
    omp_set_num_threads(2);
    cr_expect_eq(threads_usable(0), 2, "what OpenMP would take");
    omp_set_num_threads(5000);
    int most = threads_usable(0);
    cr_expect(most >= 2 && most <= THREADS_MAX, "%d", most);
}
