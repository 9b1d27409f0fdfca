/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/trace/formats/wire.h: the wire form of protocol buffers, field by field, over bytes in memory. The readers of a
 * library are made by a compiler from .proto files at build time; what is read here is twenty fields of six messages,
 * whose maps have to be read before the events that stand in front of them, and whose unknown parts are most of a
 * file. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    const uint8_t *at, *end;
    bool broken; /* what stood at `at` is no field */
} Wire;

typedef struct {
    uint32_t number;
    uint8_t type;   /* 0 varint, 1 eight bytes, 2 bytes with a length, 5 four bytes */
    uint64_t value; /* of types 0, 1 and 5 */
    Wire bytes;     /* of type 2: the message or text inside */
} WireField;

Wire wire_over(const void *bytes, size_t length);

/* The next field; false at the end, and where the bytes are no field, which leaves `broken`. */
bool wire_next(Wire *wire, WireField *out);
