/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/models/zoo_fixture.h: the zoo, read before each test of a suite that has
 * .init = zoo_setup, .fini = zoo_teardown. */
#pragma once

#include "models/config/model_json.h"

#include <criterion/criterion.h>

static Arena arena;
static Zoo zoo;

static void zoo_setup(void) {
    Error error = {0};
    cr_assert(zoo_load(&arena, &zoo, &error), "%s: %s", error.where, error.text);
}

static void zoo_teardown(void) { arena_free(&arena); }
