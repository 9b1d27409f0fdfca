/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of a plan's figures is whole: what walks over it finds every row once. */
#include "search/report/plan_fields.h"

#include <criterion/criterion.h>
#include <string.h>

static bool is_flat(const Field *field) { return field->column || field->shown || field->flat; }

Test(plan_fields, names_columns_and_places_are_given_once) {
    int columns = 0, places = 0;
    for (const Field *field = PLAN_FIELDS; field->key || field->flat; field++) {
        columns += field->column > 0;
        places += field->shown > 0;
        if (field->shown) cr_expect(field->name && field->unit, "%s has no name or unit", field->key);
        for (const Field *other = PLAN_FIELDS; other < field; other++) {
            cr_expect(!field->key || !other->key || strcmp(field->key, other->key) != 0, "%s twice", field->key);
            cr_expect(!is_flat(field) || !is_flat(other) || strcmp(field_flat(field), field_flat(other)) != 0,
                      "%s twice", field_flat(field));
        }
    }
    for (int column = 1; column <= columns; column++)
        cr_expect(field_at_column(PLAN_FIELDS, column), "no column %d", column);
    for (int place = 1; place <= places; place++) cr_expect(field_shown(PLAN_FIELDS, place), "no figure %d", place);
    cr_expect_eq(columns, 50);
    cr_expect_eq(places, 8);
}
