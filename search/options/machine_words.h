/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/options/machine_words.h: what every question has, read from options in one place: the model, the chip and the
 * machine, with the readers of one value that any other option takes. */
#pragma once

#include "search/options/options.h"

/* Options that are being read, and where what they name is kept. */
typedef struct {
    const Options *options;
    Arena *arena;
    Error *error;
} Words;

/* NULL: it is not. */
static inline const char *given(const Words *words, Option option) { return words->options->text[option]; }
/* What errors name: where it was given, else "--name". */
const char *words_where(const Words *words, Option option);
/* Sets the error of this option; always false. */
bool words_wrong(const Words *words, Option option, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Readers of one value: an option that is not given leaves *out, the default, as it is. */
bool words_whole(const Words *words, Option option, int64_t low, int64_t high, int64_t *out);
bool words_real(const Words *words, Option option, double low, double high, double *out);
/* --sequences: "512", or "2/device", so many of each device in one pass, as MaxText counts them. */
bool words_sequences(const Words *words, int64_t devices, int64_t most, int64_t *out);
bool words_share(const Words *words, Option option, double high, double *out);
bool words_seconds(const Words *words, Option option, double *out);
bool words_choice(const Words *words, Option option, int *out); /* the number of its value in its row's `values` */

/* The number of `text` among `values`, words with blanks between them; NULL: *out stays as it is. */
bool choice_read(const char *text, const char *where, const char *values, int *out, Error *error);

bool model_from_words(const Words *words, Model *out);
/* Why a chip of this name is never in the catalog, and what to give; NULL: it may be. */
const char *chip_not_planned(const char *name);
/* Says that the catalog has no chip of this name, and which is nearest; always false. */
bool unknown_chip(const Catalog *catalog, const char *name, const char *where, Arena *arena, Error *error);

/* The chip, with hosts and network as they were typed. A vendor's slice name says which it is, a cloud's instance how
 * many its hosts have. Pods and plain shapes are of CHIP_OF_PODS where nobody says whose; nothing else has a
 * default. */
#define CHIP_OF_PODS "v5p"
bool chip_from_words(const Words *words, Chip *chip, Chip *device);

/* A machine as it was requested; `text`: "--pods 8". */
typedef struct {
    MachineRequest request;
    char text[96];
} RequestedMachine;
/* Without any size it has so many `chips`; 0: that is an error, as nothing has a default. Gives the chip its host's
 * memory as it was typed. */
bool machine_from_words(const Words *words, int64_t chips, Chip *chip, RequestedMachine *requested, Machine *out);
