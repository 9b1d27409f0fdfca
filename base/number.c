/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers are read in three parts, digits, exponent, suffix, and put together exactly: whole numbers in 128 bits, real
 * ones by one strtod over all decimal parts, so that "0.7%" is the double 0.007 and "1.1T" is 1.1e12. */
#include "base/number.h"

#include "base/util.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS_MAX = 64, EXPONENT_MAX = 9999 };

typedef struct {
    const char *text; /* the whole suffix */
    int ten_power;
    int two_power;
} Suffix;

static const Suffix SCALES[] = {
    {"", 0, 0},    {"k", 3, 0},   {"M", 6, 0},   {"G", 9, 0},   {"T", 12, 0},
    {"Ki", 0, 10}, {"Mi", 0, 20}, {"Gi", 0, 30}, {"Ti", 0, 40},
};
static const Suffix TOKENS[] = {
    {"", 0, 0},    {"k", 0, 10},  {"K", 0, 10},  {"M", 0, 20},  {"m", 0, 20},  {"G", 0, 30},  {"T", 0, 40},
    {"Ki", 0, 10}, {"ki", 0, 10}, {"Mi", 0, 20}, {"mi", 0, 20}, {"Gi", 0, 30}, {"Ti", 0, 40},
};
static const Suffix SHARES[] = {{"", 0, 0}, {"%", -2, 0}};
static const Suffix SECONDS[] = {{"", 0, 0}, {"s", 0, 0}};

static const Suffix NETWORKS[] = {
    {"Mbps", 6, -3},   {"Gbps", 9, -3}, {"Tbps", 12, -3}, {"Mb/s", 6, -3}, {"Gb/s", 9, -3}, {"Tb/s", 12, -3},
    {"Gbit/s", 9, -3}, {"Gbit", 9, -3}, {"Gb", 9, -3},    {"GbE", 9, -3},  {"G", 9, -3},    {"T", 12, -3},
    {"MB/s", 6, 0},    {"GB/s", 9, 0},  {"TB/s", 12, 0},  {"GBps", 9, 0},  {"gbps", 9, -3}, {"tbps", 12, -3},
};

/* digits * 10^ten_power * 2^two_power */
typedef struct {
    char digits[DIGITS_MAX + 1]; /* significant ones: no leading zeros, no trailing zeros; "" is zero */
    int ten_power;
    int two_power;
} Decimal;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Takes one digit; zeros are held back until a digit other than zero makes them significant. */
static bool push_digit(Decimal *decimal, size_t *used, size_t *zeros, char digit) {
    if (digit == '0') {
        if (*used > 0) (*zeros)++;
        return true;
    }
    if (*used + *zeros >= DIGITS_MAX) return false;
    for (; *zeros > 0; (*zeros)--) decimal->digits[(*used)++] = '0';
    decimal->digits[(*used)++] = digit;
    return true;
}

/* Reads all of `text`; returns false when it is not a number with one of the suffixes, or has more digits than
 * DIGITS_MAX. */
static bool decimal_read(const char *text, const Suffix *suffixes, size_t suffix_count, Decimal *out) {
    Decimal decimal = {0};
    size_t used = 0, zeros = 0, seen = 0;
    int64_t ten_power = 0;
    if (strlen(text) > EXPONENT_MAX) return false;
    for (; is_digit(*text); text++, seen++)
        if (!push_digit(&decimal, &used, &zeros, *text)) return false;
    if (*text == '.') {
        text++;
        for (; is_digit(*text); text++, seen++, ten_power--)
            if (!push_digit(&decimal, &used, &zeros, *text)) return false;
    }
    if (seen == 0) return false;
    if (*text == 'e' || *text == 'E') {
        text++;
        int sign = 1, exponent = 0;
        if (*text == '-' || *text == '+') sign = *text++ == '-' ? -1 : 1;
        if (!is_digit(*text)) return false;
        for (; is_digit(*text); text++)
            if (exponent <= EXPONENT_MAX) exponent = exponent * 10 + (*text - '0');
        if (exponent > EXPONENT_MAX) return false;
        ten_power += sign * exponent;
    }
    for (size_t i = 0; i < suffix_count; i++) {
        if (strcmp(text, suffixes[i].text) != 0) continue;
        decimal.ten_power = (int)(ten_power + (int64_t)zeros + suffixes[i].ten_power);
        decimal.two_power = suffixes[i].two_power;
        *out = decimal;
        return true;
    }
    return false;
}

/* "8K", "8kb", "4m", "4 MB" and "4mi" as they are written here: "8Ki", "4Mi". NULL: it is another mistake. */
static const char *spelling_meant(const char *text, char meant[NUMBER_TEXT_SIZE]) {
    static const char SCALE_LETTERS[] = "kKmMgGtT";
    size_t length = strspn(text, "0123456789.");
    const char *scale = text + length + (text[length] == ' ');
    bool any = length > 0 && length < 24 && scale[0] && strchr(SCALE_LETTERS, scale[0]);
    const char *rest = scale + any;
    if (any && (rest[0] == 'i' || rest[0] == 'I')) rest++;
    if (any && (rest[0] == 'b' || rest[0] == 'B')) rest++;
    if (!any || rest[0]) return NULL;
    char letter = scale[0] >= 'a' ? (char)(scale[0] - 'a' + 'A') : scale[0];
    snprintf(meant, NUMBER_TEXT_SIZE, "%.*s%ci", (int)length, text, letter);
    return meant;
}

typedef enum { WHOLE, FRACTIONAL, TOO_LARGE } Wholeness;

static Wholeness decimal_whole(const Decimal *decimal, Count *out) {
    Count value = 0;
    if (decimal->digits[0] == '\0') {
        *out = 0;
        return WHOLE;
    }
    for (const char *digit = decimal->digits; *digit; digit++)
        if (!count_multiply(value, 10, &value) || !count_add(value, (Count)(*digit - '0'), &value)) return TOO_LARGE;
    if (!count_multiply(value, (Count)1 << decimal->two_power, &value)) return TOO_LARGE;
    int power = decimal->ten_power;
    for (; power > 0; power--)
        if (!count_multiply(value, 10, &value)) return TOO_LARGE;
    for (; power < 0; power++) {
        if (value % 10 != 0) return FRACTIONAL;
        value /= 10;
    }
    *out = value;
    return WHOLE;
}

/* All decimal parts are rounded once; a power of two adds no rounding. The digits have no point in them, so that the
 * locale cannot matter. */
static double decimal_real(const Decimal *decimal) {
    char text[DIGITS_MAX + 16];
    if (decimal->digits[0] == '\0') return 0;
    snprintf(text, sizeof text, "%se%d", decimal->digits, decimal->ten_power);
    return ldexp(strtod(text, NULL), decimal->two_power);
}

static bool whole_read(const char *text, const char *where, const Suffix *suffixes, size_t suffix_count, int64_t low,
                       int64_t high, int64_t *out, Error *error) {
    Decimal decimal;
    Count value = 0;
    /* Whole numbers are not written with a negative power of ten, though "15e-1k" would be whole. */
    bool read = !strpbrk(text, "+-") && decimal_read(text, suffixes, suffix_count, &decimal);
    char meant[NUMBER_TEXT_SIZE];
    if (!read && spelling_meant(text, meant))
        return error_set(error, ERROR_INPUT, where,
                         "\"%.60s\" is not a whole number; give %s (Ki Mi Gi Ti are powers of two, k M G T of ten)",
                         text, meant);
    if (!read)
        return error_set(
            error, ERROR_INPUT, where,
            "\"%.60s\" is not a whole number; give one from %lld to %lld, with k M G T or Ki Mi Gi Ti behind it "
            "if you like",
            text, (long long)low, (long long)high);
    Wholeness wholeness = decimal_whole(&decimal, &value);
    if (wholeness == FRACTIONAL)
        return error_set(error, ERROR_INPUT, where, "\"%.60s\" has a fraction; give a whole number from %lld to %lld",
                         text, (long long)low, (long long)high);
    if (wholeness == TOO_LARGE || value > INT64_MAX || (int64_t)value < low || (int64_t)value > high)
        return error_set(error, ERROR_INPUT, where, "%.60s is out of range; give a whole number from %lld to %lld",
                         text, (long long)low, (long long)high);
    *out = (int64_t)value;
    return true;
}

bool number_whole(const char *text, const char *where, int64_t low, int64_t high, int64_t *out, Error *error) {
    return whole_read(text, where, SCALES, COUNT_OF(SCALES), low, high, out, error);
}

bool number_tokens(const char *text, const char *where, int64_t low, int64_t high, int64_t *out, Error *error) {
    char number[NUMBER_TEXT_SIZE];
    size_t length = strlen(text), unit = strlen("tokens");
    bool named = length > unit + 1 && length < sizeof number && strcmp(text + length - unit, "tokens") == 0 &&
                 strchr(" -_", text[length - unit - 1]);
    if (named) snprintf(number, sizeof number, "%.*s", (int)(length - unit - 1), text), text = number;
    if (!whole_read(text, where, TOKENS, COUNT_OF(TOKENS), low, high, out, error)) return false;
    int64_t power = 1, decimal = 0;
    Error no_thousands = {0};
    if (!number_whole(text, where, low, high, &decimal, &no_thousands) || decimal == *out) return true;
    while (power < decimal - decimal / 64) power *= 2;
    if (power <= decimal + decimal / 64 && power <= high) *out = power;
    return true;
}

/* The common part of number_real, number_share and number_seconds; `what` says how such a number is written. */
static bool real_read(const char *text, const char *where, const Suffix *suffixes, size_t suffix_count, double low,
                      double high, const char *what, double *out, Error *error) {
    Decimal decimal;
    bool negative = text[0] == '-' && low < 0;
    if (!decimal_read(text + negative, suffixes, suffix_count, &decimal))
        return error_set(error, ERROR_INPUT, where, "\"%.60s\" is not %s; give one from %.10g to %.10g", text, what,
                         low, high);
    double value = decimal_real(&decimal);
    if (negative) value = -value;
    if (!isfinite(value) || !(value >= low && value <= high))
        return error_set(error, ERROR_INPUT, where, "%.60s is out of range; give %s from %.10g to %.10g", text, what,
                         low, high);
    *out = value;
    return true;
}

bool number_real(const char *text, const char *where, double low, double high, double *out, Error *error) {
    return real_read(text, where, SCALES, COUNT_OF(SCALES), low, high, "a number", out, error);
}

bool number_share(const char *text, const char *where, double low, double high, double *out, Error *error) {
    return real_read(text, where, SHARES, COUNT_OF(SHARES), low, high, "a share (0.1 or 10%)", out, error);
}

bool number_seconds(const char *text, const char *where, double *out, Error *error) {
    double seconds;
    if (!real_read(text, where, SECONDS, COUNT_OF(SECONDS), 0, 1e9, "a time in seconds (60, 1.5s, 50ms)", &seconds,
                   error))
        return false;
    if (seconds == 0)
        return error_set(error, ERROR_INPUT, where,
                         "%.60s is no time at all; give more than zero seconds (60, 1.5s, 50ms)", text);
    *out = seconds;
    return true;
}

bool number_duration(const char *text, const char *where, double *out, Error *error) {
    static const struct {
        char suffix;
        double seconds;
    } UNITS[] = {{'m', 60}, {'h', 3600}, {'d', 86400}};
    char digits[64];
    size_t length = strlen(text);
    for (size_t i = 0; i < COUNT_OF(UNITS) && length > 1 && length < sizeof digits; i++) {
        double count = 0;
        if (text[length - 1] != UNITS[i].suffix) continue;
        snprintf(digits, sizeof digits, "%.*s", (int)length - 1, text);
        if (!real_read(digits, where, SECONDS, 1, 0, 1e9 / UNITS[i].seconds, "a time (90s, 40m, 3h, 2d)", &count,
                       error))
            return false;
        if (count == 0)
            return error_set(error, ERROR_INPUT, where, "%.60s is no time at all; give more (90s, 40m, 3h, 2d)", text);
        *out = count * UNITS[i].seconds;
        return true;
    }
    if (!real_read(text, where, SECONDS, COUNT_OF(SECONDS), 0, 1e9, "a time (90s, 40m, 3h, 2d)", out, error))
        return false;
    return *out > 0 ||
           error_set(error, ERROR_INPUT, where, "%.60s is no time at all; give more (90s, 40m, 3h, 2d)", text);
}

bool number_network(const char *text, const char *where, double *out, Error *error) {
    char plain[NUMBER_TEXT_SIZE];
    size_t used = 0;
    for (const char *c = text; *c && strlen(text) < sizeof plain; c++)
        if (*c != ' ') plain[used++] = *c;
    plain[used] = '\0';
    size_t digits = strspn(plain, "0123456789");
    bool several = digits > 0 && digits < 9 && plain[digits] == 'x';
    Decimal rate;
    if (strtod(plain, NULL) > 0 && plain[strspn(plain, "0123456789.")] == '\0')
        return error_set(error, ERROR_INPUT, where, "%.40s of what? give %.40sGbps or %.40sGB/s", plain, plain, plain);
    if (!decimal_read(plain + (several ? digits + 1 : 0), NETWORKS, COUNT_OF(NETWORKS), &rate))
        return error_set(error, ERROR_INPUT, where,
                         "\"%.60s\" is no rate of a network; give 100Gbps, 3.2Tbps, 50GB/s or 8x400Gbps", text);
    double value = decimal_real(&rate) * (several ? strtod(plain, NULL) : 1);
    if (!(value >= 1e8 / 8 && value <= 1e14 / 8))
        return error_set(error, ERROR_INPUT, where, "%.60s is out of range; give 100Mbps to 100Tbps", text);
    *out = value;
    return true;
}

const char *number_grouped(int64_t value, char *text) {
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    text[0] = '-';
    count_text(magnitude, true, text + (value < 0)); /* at most 25 characters and the sign */
    return text;
}

/* Writes three significant digits and a unit; 1,720 where the units have run out, and at most 15 digits in any case. */
static void put_short(double value, const char *unit, char *text, size_t size) {
    char grouped[NUMBER_TEXT_SIZE];
    if (value < 999.5) {
        int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
        snprintf(text, size, "%.*f%s", decimals, value, unit);
    } else if (value < 1e15) {
        snprintf(text, size, "%s%s", number_grouped((int64_t)(value + 0.5), grouped), unit);
    } else {
        snprintf(text, size, "%.3g%s", value, unit); /* this also prints infinity and NaN */
    }
}

/* Puts the sign of a difference before its magnitude. */
static size_t put_sign(double *value, char *text) {
    if (!(*value < 0)) return 0;
    *value = -*value;
    text[0] = '-';
    return 1;
}

/* Picks the first of `units`, each 1000 times the one before, in which the value prints below 1000; a value in the
 * first unit has nothing to round away: "5 B", "12". */
static const char *scaled(double value, const char *const *units, size_t count, char *text) {
    size_t sign = put_sign(&value, text), unit = 0;
    if (isfinite(value))
        for (; unit + 1 < count && value >= 999.5; unit++) value /= 1000;
    if (unit == 0)
        snprintf(text + sign, NUMBER_TEXT_SIZE - sign, "%.3g%s", value, units[0]);
    else
        put_short(value, units[unit], text + sign, NUMBER_TEXT_SIZE - sign);
    return text;
}

const char *number_bytes(double bytes, char *text) {
    static const char *const UNITS[] = {" B", " kB", " MB", " GB", " TB", " PB"};
    return scaled(bytes, UNITS, COUNT_OF(UNITS), text);
}

const char *number_short(double value, char *text) {
    static const char *const UNITS[] = {"", " k", " M", " G", " T", " P"};
    return scaled(value, UNITS, COUNT_OF(UNITS), text);
}

const char *number_time(double seconds, char *text) {
    static const char *const UNITS[] = {" s", " ms", " us", " ns"};
    size_t sign = put_sign(&seconds, text), unit = 0;
    if (seconds == 0) return strcpy(text, "0 s");
    for (; unit + 1 < COUNT_OF(UNITS) && seconds < 0.9995; unit++) seconds *= 1000;
    put_short(seconds, UNITS[unit], text + sign, NUMBER_TEXT_SIZE - sign);
    return text;
}

bool count_add(Count a, Count b, Count *out) {
    Count sum;
    if (__builtin_add_overflow(a, b, &sum)) return false;
    *out = sum;
    return true;
}

bool count_multiply(Count a, Count b, Count *out) {
    Count product;
    if (__builtin_mul_overflow(a, b, &product)) return false;
    *out = product;
    return true;
}

const char *count_text(Count count, bool grouped, char *text) {
    char reversed[COUNT_TEXT_SIZE]; /* 39 digits and 12 commas at most */
    size_t used = 0, digits = 0;
    do {
        if (grouped && digits > 0 && digits % 3 == 0) reversed[used++] = ',';
        reversed[used++] = (char)('0' + (int)(count % 10));
        digits++;
        count /= 10;
    } while (count > 0);
    for (size_t i = 0; i < used; i++) text[i] = reversed[used - 1 - i];
    text[used] = '\0';
    return text;
}
