/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/number.h"
#include "base/util.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const struct {
    const char *text;
    int64_t expected;
} WHOLES[] = {
    {"0", 0},
    {"16777216", 16777216},
    {"4Mi", 4194304},
    {"15T", 15000000000000},
    {"1.5k", 1500},
    {"0.1k", 100},
    {"0.5Ki", 512},
    {"0.0009765625Mi", 1024}, /* 2^-10 * 2^20 */
    {"1Gi", 1073741824},
    {"1Ti", 1099511627776},
    {"1e6", 1000000},
    {"1E6", 1000000},
    {"1.25e2", 125},
    {"2e3k", 2000000},
    {"007", 7},
    {"8.", 8},
    {".5k", 500},
    {"1.000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000", 1},
    {"9223372036854775807", INT64_MAX},
    {"9.223372036854775807e18", INT64_MAX},
    {"0e9999", 0},
    {"0.000T", 0},
};

/* Tokens of a sequence or a batch, by hand. */
Test(number, tokens) {
    static const struct {
        const char *text;
        int64_t value; /* 0: refused */
    } ROWS[] = {{"8k", 8192},
                {"8K", 8192},
                {"8Ki", 8192},
                {"4M", 4194304},
                {"1.5M tokens", 1572864},
                {"67M-tokens", 67108864},
                {"60M", 62914560},
                {"131k", 131072},
                {"33.5M", 33554432},
                {"100k", 102400},
                {"65k", 65536},
                {"4000000", 4000000},
                {"4e6", 4000000},
                {"tokens", 0},
                {"4M  tokens", 0},
                {"4Mtokens", 0},
                {"4MB", 0},
                {"0.3k", 0},
                {"9000T", 0}};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        int64_t value = 0;
        Error error = {0};
        bool read = number_tokens(ROWS[i].text, "--batch", 1, (int64_t)1e15, &value, &error);
        cr_expect_eq(read, ROWS[i].value > 0, "%s: %s", ROWS[i].text, error.text);
        cr_expect_eq(value, ROWS[i].value, "%s is %lld", ROWS[i].text, (long long)value);
    }
}

Test(number, whole) {
    for (size_t i = 0; i < COUNT_OF(WHOLES); i++) {
        int64_t out = -1;
        Error error = {0};
        cr_expect(number_whole(WHOLES[i].text, "--n", 0, INT64_MAX, &out, &error), "%s: %s", WHOLES[i].text,
                  error.text);
        cr_expect_eq(out, WHOLES[i].expected, "%s: %lld", WHOLES[i].text, (long long)out);
    }
}

static const char *const NO_WHOLES[] = {
    "",
    " ",
    "1 ",
    " 1",
    "-1",
    "+1",
    "0x10",
    "1K",
    "1m",
    "1kk",
    "1kB",
    "1,000",
    "1.2.3",
    ".",
    ".k",
    "e6",
    "1e",
    "1e+6",
    "1e-2",
    "100e-2",
    "nan",
    "inf",
    "ten",
    "1.5",
    "1.0001k",
    "10%",
    "60s",
    "1_000",
    "0.3Ki",
    "\xD9\xA1",
    "1\n",
    "1e99999999999999999999",
    "9223372036854775808",
    "1e19",
    "9223373T",
    "1e9999",
    "0.00000000000000000000000000000000000000000000000000000000000000000001",
    "1k ",
    "1111111111111111111111111111111111111111111111111111111111111111111111111111111111111",
};

Test(number, what_is_no_whole_number_is_said) {
    for (size_t i = 0; i < COUNT_OF(NO_WHOLES); i++) {
        int64_t out = 42;
        Error error = {0};
        cr_expect_not(number_whole(NO_WHOLES[i], "--batch", 0, INT64_MAX, &out, &error), "\"%s\"", NO_WHOLES[i]);
        cr_expect_eq(out, 42, "\"%s\"", NO_WHOLES[i]);
        cr_expect_eq(error.kind, ERROR_INPUT);
        cr_expect_str_eq(error.where, "--batch");
        cr_expect_not_null(strstr(error.text, "give "), "%s", error.text);
    }
}

Test(number, whole_keeps_its_range) {
    int64_t out = 0;
    Error error = {0};
    cr_expect(number_whole("8", "--pods", 1, 8, &out, &error));
    cr_expect_not(number_whole("9", "--pods", 1, 8, &out, &error));
    cr_expect_str_eq(error.text, "9 is out of range; give a whole number from 1 to 8");
    cr_expect_not(number_whole("0", "--pods", 1, 8, &out, &error));
    cr_expect_eq(out, 8);
}

/* The doubles are those that the compiler makes of the plain notation: nothing is lost on the way. */
static const struct {
    const char *text;
    double expected;
} REALS[] = {
    {"0", 0},
    {"1.1T", 1.1e12},
    {"0.7", 0.7},
    {"4Mi", 4194304},
    {"1e-3", 1e-3},
    {"1.5e-3k", 1.5},
    {"459T", 4.59e14},
    {"2.765e12", 2.765e12},
    {"0.1Ki", 0.1 * 1024},
    {"1.7976931348623157e308", 1.7976931348623157e308},
    {"-2.5", -2.5},
    {"-3k", -3000},
    {"1e+3", 1e3},
    {"123456789012345678901234567890", 123456789012345678901234567890.0},
    {"4.9e-324", 4.9e-324},
    {"1e-5000", 0},
};

Test(number, real) {
    for (size_t i = 0; i < COUNT_OF(REALS); i++) {
        double out = 42;
        Error error = {0};
        cr_expect(number_real(REALS[i].text, "--x", -1e9, INFINITY, &out, &error), "%s: %s", REALS[i].text, error.text);
        cr_expect(out == REALS[i].expected, "%s: %.17g", REALS[i].text, out);
    }
}

static const char *const NO_REALS[] = {"",     "nan", "inf", "-inf", "1e400", "1e308k",  "0x1p3",
                                       "1..2", "--1", "+1",  "- 1",  "1e",    "1e9x",    "1%",
                                       "1s",   "1,5", "1 2", "-",    "NaN",   "infinity"};

Test(number, what_is_no_real_number_is_said) {
    for (size_t i = 0; i < COUNT_OF(NO_REALS); i++) {
        double out = 42;
        Error error = {0};
        cr_expect_not(number_real(NO_REALS[i], "--x", -INFINITY, INFINITY, &out, &error), "\"%s\"", NO_REALS[i]);
        cr_expect(out == 42 && error.kind == ERROR_INPUT, "\"%s\"", NO_REALS[i]);
    }
    double out;
    cr_expect_not(number_real("-1", "--x", 0, 1, &out, NULL), "a sign where nothing negative is allowed");
}

static const struct {
    const char *text;
    bool ok;
    double expected;
} SHARES[] = {
    {"0.1", true, 0.1}, {"10%", true, 0.1}, {"0.7%", true, 0.007}, {"100%", true, 1},
    {"1", true, 1},     {"0", true, 0},     {"8%", true, 0.08},    {"1e1%", true, 0.1},
    {"101%", false, 0}, {"1.01", false, 0}, {"-1%", false, 0},     {"10 %", false, 0},
    {"10%%", false, 0}, {"%", false, 0},    {"1k", false, 0},      {"", false, 0},
};

Test(number, share) {
    for (size_t i = 0; i < COUNT_OF(SHARES); i++) {
        double out = 42;
        Error error = {0};
        cr_expect_eq(number_share(SHARES[i].text, "--max-idle", 0, 1, &out, &error), SHARES[i].ok, "%s",
                     SHARES[i].text);
        cr_expect(out == (SHARES[i].ok ? SHARES[i].expected : 42), "%s: %.17g", SHARES[i].text, out);
    }
}

static const struct {
    const char *text;
    bool ok;
    double expected;
} SECONDS[] = {
    {"60", true, 60},      {"60s", true, 60},  {"1.5s", true, 1.5}, {"1e9", true, 1e9},
    {"1e-3s", true, 1e-3}, {"0", false, 0},    {"0.0s", false, 0},  {"-1", false, 0},
    {"1m", false, 0},      {"60ss", false, 0}, {"1.1e9", false, 0}, {"nan", false, 0},
};

Test(number, seconds) {
    for (size_t i = 0; i < COUNT_OF(SECONDS); i++) {
        double out = 42;
        Error error = {0};
        cr_expect_eq(number_seconds(SECONDS[i].text, "--time-limit", &out, &error), SECONDS[i].ok, "%s",
                     SECONDS[i].text);
        cr_expect(out == (SECONDS[i].ok ? SECONDS[i].expected : 42), "%s: %.17g", SECONDS[i].text, out);
    }
}

static const struct {
    const char *(*print)(double, char *);
    double value;
    const char *expected;
} PRINTS[] = {
    {number_bytes, 0, "0 B"},
    {number_bytes, 512, "512 B"},
    {number_bytes, 999.4, "999 B"},
    {number_bytes, 999.6, "1.00 kB"},
    {number_bytes, 88.1e9, "88.1 GB"},
    {number_bytes, 95e9, "95.0 GB"},
    {number_bytes, 9.996e9, "10.0 GB"},
    {number_bytes, 9.994e9, "9.99 GB"},
    {number_bytes, 99.96e9, "100 GB"},
    {number_bytes, 999.6e9, "1.00 TB"},
    {number_bytes, 2.5e18, "2,500 PB"},
    {number_bytes, -1.5e9, "-1.50 GB"},
    {number_bytes, INFINITY, "inf B"},
    {number_time, 0, "0 s"},
    {number_time, 3.42, "3.42 s"},
    {number_time, 541, "541 s"},
    {number_time, 1720, "1,720 s"},
    {number_time, 0.0121, "12.1 ms"},
    {number_time, 35.4e-6, "35.4 us"},
    {number_time, 0.9996, "1.00 s"},
    {number_time, 0.9994, "999 ms"},
    {number_time, 5e-10, "0.50 ns"},
    {number_time, -0.0121, "-12.1 ms"},
    {number_time, INFINITY, "inf s"},
    {number_short, 0, "0"},
    {number_short, 126, "126"},
    {number_short, 3.14159, "3.14"},
    {number_short, 55.7e6, "55.7 M"},
    {number_short, 234.2e6, "234 M"},
    {number_short, 405e9, "405 G"},
    {number_short, 15e12, "15.0 T"},
    {number_short, 999.7e6, "1.00 G"},
    {number_short, -1234, "-1.23 k"},
    {number_short, 1e300, "1e+285 P"},
};

Test(number, print) {
    for (size_t i = 0; i < COUNT_OF(PRINTS); i++) {
        char text[NUMBER_TEXT_SIZE];
        cr_expect_str_eq(PRINTS[i].print(PRINTS[i].value, text), PRINTS[i].expected, "%g: %s, expected %s",
                         PRINTS[i].value, text, PRINTS[i].expected);
    }
    char text[NUMBER_TEXT_SIZE];
    cr_expect_not_null(strstr(number_time(NAN, text), "nan"));
    cr_expect_not_null(strstr(number_bytes(-NAN, text), "nan"));
}

Test(number, grouped) {
    char text[NUMBER_TEXT_SIZE];
    cr_expect_str_eq(number_grouped(0, text), "0");
    cr_expect_str_eq(number_grouped(16777216, text), "16,777,216");
    cr_expect_str_eq(number_grouped(-1000, text), "-1,000");
    cr_expect_str_eq(number_grouped(INT64_MAX, text), "9,223,372,036,854,775,807");
    cr_expect_str_eq(number_grouped(INT64_MIN, text), "-9,223,372,036,854,775,808");
}

Test(number, durations) {
    const struct {
        const char *text;
        double seconds; /* 0 means that it is refused */
    } ROWS[] = {{"90", 90}, {"90s", 90}, {"40m", 2400}, {"3h", 10800}, {"1.5d", 129600}, {"0h", 0},
                {"h", 0},   {"-1h", 0},  {"3hh", 0},    {"1e9d", 0},   {"nanm", 0},      {"", 0}};
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        double out = 0;
        Error error = {0};
        cr_expect_eq(number_duration(ROWS[i].text, "--mtbf", &out, &error), ROWS[i].seconds > 0, "%s", ROWS[i].text);
        if (ROWS[i].seconds > 0) cr_expect_float_eq(out, ROWS[i].seconds, 1e-9, "%s", ROWS[i].text);
    }
}

Test(number, networks) {
    const struct {
        const char *text;
        double bytes; /* a second, bits over 8; 0: it is refused */
    } ROWS[] = {{"100Gbps", 12.5e9},
                {"3.2Tbps", 400e9},
                {"50GB/s", 50e9},
                {"8x400Gbps", 400e9},
                {"8x 400 Gb/s", 400e9},
                {"8x400G", 400e9},
                {"100 GbE", 12.5e9},
                {"100Mbps", 12.5e6},
                {"99Mbps", 0},
                {"101Tbps", 0},
                {"400", 0},
                {"8x400", 0},
                {"8x", 0},
                {"x400G", 0},
                {"0x400G", 0},
                {"2x2x400G", 0},
                {"-1Gbps", 0},
                {"1e999Gbps", 0},
                {"", 0},
                {" ", 0},
                {"InfiniBand", 0},
                {"000000000000000000000000000000000000000000001GB/s", 0}};
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        double out = 0;
        Error error = {0};
        cr_expect_eq(number_network(ROWS[i].text, "--network", &out, &error), ROWS[i].bytes > 0, "%s", ROWS[i].text);
        cr_expect_eq(out, ROWS[i].bytes, "%s: %g", ROWS[i].text, out);
        cr_expect(ROWS[i].bytes > 0 || strcmp(error.where, "--network") == 0, "%s", ROWS[i].text);
    }
}

#define COUNT_MAX (~(Count)0)

/* 2^64 = 18446744073709551616 and 2^128 - 1 = 340282366920938463463374607431768211455. */
static const struct {
    Count count;
    const char *plain, *grouped;
} TEXTS[] = {
    {0, "0", "0"},
    {7, "7", "7"},
    {999, "999", "999"},
    {1000, "1000", "1,000"},
    {18183356256, "18183356256", "18,183,356,256"},
    {(Count)1 << 64, "18446744073709551616", "18,446,744,073,709,551,616"},
    {COUNT_MAX, "340282366920938463463374607431768211455", "340,282,366,920,938,463,463,374,607,431,768,211,455"},
};

Test(count, text) {
    for (size_t i = 0; i < COUNT_OF(TEXTS); i++) {
        char text[COUNT_TEXT_SIZE];
        cr_expect_str_eq(count_text(TEXTS[i].count, false, text), TEXTS[i].plain);
        cr_expect_str_eq(count_text(TEXTS[i].count, true, text), TEXTS[i].grouped);
    }
}

static const struct {
    const char *name;
    bool (*step)(Count, Count, Count *);
    Count a, b;
    bool ok;
    Count expected;
} STEPS[] = {
    {"past 64 bits", count_add, UINT64_MAX, 1, true, (Count)1 << 64},
    {"up to the last", count_add, COUNT_MAX - 1, 1, true, COUNT_MAX},
    {"one too many", count_add, COUNT_MAX, 1, false, 0},
    {"twice the half", count_add, (Count)1 << 127, (Count)1 << 127, false, 0},
    {"zero times all", count_multiply, 0, COUNT_MAX, true, 0},
    {"once all", count_multiply, COUNT_MAX, 1, true, COUNT_MAX},
    {"2^63 * 2^64", count_multiply, (Count)1 << 63, (Count)1 << 64, true, (Count)1 << 127},
    {"2^64 * 2^64", count_multiply, (Count)1 << 64, (Count)1 << 64, false, 0},
    {"(2^64 - 1)(2^64 + 1) = 2^128 - 1", count_multiply, UINT64_MAX, ((Count)1 << 64) + 1, true, COUNT_MAX},
    {"twice more than the half", count_multiply, ((Count)1 << 127) + 1, 2, false, 0},
};

Test(count, steps_are_exact_or_said_not_to_be) {
    for (size_t i = 0; i < COUNT_OF(STEPS); i++) {
        Count out = 42;
        cr_expect_eq(STEPS[i].step(STEPS[i].a, STEPS[i].b, &out), STEPS[i].ok, "%s", STEPS[i].name);
        cr_expect(out == (STEPS[i].ok ? STEPS[i].expected : 42), "%s", STEPS[i].name);
    }
}

Test(count, out_may_be_an_operand) {
    Count factorial = 1;
    for (unsigned i = 2; i <= 34; i++) cr_expect(count_multiply(factorial, i, &factorial));
    char text[COUNT_TEXT_SIZE]; /* 34! is the last below 2^128 */
    cr_expect_str_eq(count_text(factorial, false, text), "295232799039604140847618609643520000000");
    cr_expect_not(count_multiply(factorial, 35, &factorial));
}
