/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The wire form of protocol buffers by its specification (protobuf.dev, "Encoding"): seven bits of a varint a byte, the
 * least first; eight and four bytes, the least first; bytes behind their length. */
#include "cost/trace/formats/wire.h"

#include "base/util.h"

#include <criterion/criterion.h>
#include <string.h>

#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__})

static const struct {
    const char *what;
    const uint8_t *bytes;
    size_t size;
    bool field; /* false: broken */
    uint32_t number;
    uint8_t type;
    uint64_t value; /* of type 2: how many bytes */
    size_t left;    /* bytes behind it */
} ROWS[] = {
    {"the specification's 150 in field 1", BYTES(0x08, 0x96, 0x01), true, 1, 0, 150, 0},
    {"one byte", BYTES(0x10, 0x7F, 0xAA), true, 2, 0, 127, 1},
    {"two bytes", BYTES(0x10, 0x80, 0x01), true, 2, 0, 128, 0},
    {"all 64 bits", BYTES(0x08, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01), true, 1, 0, UINT64_MAX, 0},
    {"eleven bytes", BYTES(0x08, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x81, 0x00), false, 0, 0, 0, 0},
    {"a varint that ends early", BYTES(0x08, 0x96), false, 0, 0, 0, 0},
    {"no value", BYTES(0x08), false, 0, 0, 0, 0},
    {"eight bytes", BYTES(0x19, 1, 2, 3, 4, 5, 6, 7, 8, 9), true, 3, 1, 0x0807060504030201u, 1},
    {"seven", BYTES(0x19, 1, 2, 3, 4, 5, 6, 7), false, 0, 0, 0, 0},
    {"four bytes", BYTES(0x25, 0xFF, 0, 0, 0x80), true, 4, 5, 0x800000FFu, 0},
    {"three", BYTES(0x25, 1, 2, 3), false, 0, 0, 0, 0},
    {"the specification's testing", BYTES(0x12, 0x07, 't', 'e', 's', 't', 'i', 'n', 'g'), true, 2, 2, 7, 0},
    {"no bytes", BYTES(0x12, 0x00), true, 2, 2, 0, 0},
    {"fewer bytes than said", BYTES(0x12, 0x03, 'a', 'b'), false, 0, 0, 0, 0},
    {"just as many", BYTES(0x12, 0x02, 'a', 'b'), true, 2, 2, 2, 0},
    {"field 16 takes two bytes", BYTES(0x80, 0x01, 0x05), true, 16, 0, 5, 0},
    {"the largest number", BYTES(0xF8, 0xFF, 0xFF, 0xFF, 0x0F, 0x01), true, 0x1FFFFFFF, 0, 1, 0},
    {"one beyond it", BYTES(0x80, 0x80, 0x80, 0x80, 0x10, 0x01), false, 0, 0, 0, 0},
    {"field 0", BYTES(0x00, 0x01), false, 0, 0, 0, 0},
    {"a group", BYTES(0x0B, 0x01), false, 0, 0, 0, 0},
    {"its end", BYTES(0x0C, 0x01), false, 0, 0, 0, 0},
    {"no type", BYTES(0x0E, 0x01), false, 0, 0, 0, 0},
};

Test(wire, fields) {
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Wire wire = wire_over(ROWS[i].bytes, ROWS[i].size);
        WireField field;
        bool ok = wire_next(&wire, &field);
        cr_expect_eq(ok, ROWS[i].field, "%s", ROWS[i].what);
        cr_expect_eq(wire.broken, !ROWS[i].field, "%s", ROWS[i].what);
        if (!ok) {
            cr_expect_eq(wire.at, ROWS[i].bytes, "%s: it stays where it was", ROWS[i].what);
            cr_expect_not(wire_next(&wire, &field), "%s", ROWS[i].what);
            continue;
        }
        cr_expect_eq(field.number, ROWS[i].number, "%s", ROWS[i].what);
        cr_expect_eq(field.type, ROWS[i].type, "%s", ROWS[i].what);
        uint64_t value = field.type == 2 ? (uint64_t)(field.bytes.end - field.bytes.at) : field.value;
        cr_expect_eq(value, ROWS[i].value, "%s: %llu", ROWS[i].what, (unsigned long long)value);
        cr_expect_eq((size_t)(wire.end - wire.at), ROWS[i].left, "%s", ROWS[i].what);
    }
}

/* Fields follow each other; at the end there is none, and nothing is broken. */
Test(wire, one_after_the_other) {
    static const uint8_t BYTES_OF_TWO[] = {0x08, 0x01, 0x12, 0x02, 0x08, 0x05};
    Wire wire = wire_over(BYTES_OF_TWO, sizeof BYTES_OF_TWO);
    WireField field, inside;
    cr_assert(wire_next(&wire, &field) && field.number == 1 && field.value == 1);
    cr_assert(wire_next(&wire, &field) && field.number == 2);
    cr_assert(wire_next(&field.bytes, &inside) && inside.number == 1 && inside.value == 5);
    cr_expect(!wire_next(&wire, &field) && !wire.broken);
    wire = wire_over(NULL, 0);
    cr_expect(!wire_next(&wire, &field) && !wire.broken);
}
