/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/trace/formats/wire.h"

Wire wire_over(const void *bytes, size_t length) {
    const uint8_t *at = bytes;
    return (Wire){at, at + length, false};
}

static bool varint(Wire *wire, uint64_t *out) {
    *out = 0;
    for (int shift = 0; shift < 64 && wire->at < wire->end; shift += 7) {
        uint8_t byte = *wire->at++;
        *out |= (uint64_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80)) return true;
    }
    return false;
}

static bool fixed(Wire *wire, int size, uint64_t *out) {
    if (wire->end - wire->at < size) return false;
    *out = 0;
    for (int i = 0; i < size; i++) *out |= (uint64_t)wire->at[i] << 8 * i;
    wire->at += size;
    return true;
}

static bool bytes(Wire *wire, Wire *out) {
    uint64_t length;
    if (!varint(wire, &length) || length > (uint64_t)(wire->end - wire->at)) return false;
    *out = wire_over(wire->at, length);
    wire->at += length;
    return true;
}

bool wire_next(Wire *wire, WireField *out) {
    uint64_t key;
    if (wire->broken || wire->at == wire->end) return false;
    const uint8_t *begin = wire->at;
    bool ok = varint(wire, &key) && key >> 3 >= 1 && key >> 3 <= 0x1FFFFFFF;
    *out = (WireField){.number = (uint32_t)(key >> 3), .type = key & 7};
    if (ok && out->type == 0)
        ok = varint(wire, &out->value);
    else if (ok && out->type == 1)
        ok = fixed(wire, 8, &out->value);
    else if (ok && out->type == 2)
        ok = bytes(wire, &out->bytes);
    else
        ok = ok && out->type == 5 && fixed(wire, 4, &out->value);
    if (ok) return true;
    wire->at = begin;
    wire->broken = true;
    return false;
}
