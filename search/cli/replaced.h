/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/replaced.h: a command line whose words become ours, and its readers: options (synonyms.c) and words
 * without an option (sentence.c). Internal to them. */
#pragma once

#include "mesh/chip_json.h"
#include "search/cli/command.h"

/* The words as they become. */
typedef struct {
    const Command *command;
    Arena *arena;
    char **words;
    int count, room;
    char *conditions;   /* of --require: NULL means none */
    const char *advice; /* NULL: none */
    const char *passed; /* options that no plan depends on: NULL: none */
    bool any, sized;    /* something became another word; the line says how large the machine is */
    bool model;         /* it has --model */
    bool ranked;        /* it says the rank of adapters */
    bool maxtext;       /* it is of MaxText, whose batch of a device is of one pass */
    bool sentence;      /* a question in words: what is none of ours is passed over */
    bool dp_experts;    /* experts lie over data-parallel ranks of attention, as vLLM has them */
    int dp_attention;   /* ranks of data-parallel attention, which its tensor parallelism counts too; 0: none */
    bool instance_is_pod;
    double tokens_rate; /* output tokens a second that are asked for; 0: none are */
    int instance;       /* chips of a cloud's instance that is named; 0: none is */
    Catalog catalog;    /* replaced_catalog() */
    bool read;
} Replaced;

/* The chips, read when a word may be one; without any where they cannot be read, which is the command's to say. */
const Catalog *replaced_catalog(Replaced *out);
bool replaced_is_chip(Replaced *out, const char *name);

/* Adds a word, as printf does; adds to the advice in the same way. False: memory is out. */
bool replaced_add(Replaced *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool replaced_advise(Replaced *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The number of an option of the command in its table; below 0: it has none of that name. */
int replaced_option(const Command *command, const char *name, size_t length);
/* A machine in one word, "8xH200" or "v5litepod-256", as options. False: it is none (*ok), or memory is out. */
bool replaced_machine(Replaced *out, const char *word, bool sized, bool *ok);
/* One word and, where its option takes a value that is not in the word, the next one. Returns how many were read; 0:
 * memory is out. `known`: whether a name is an option, or stands for one. */
int replaced_word(Replaced *out, char **words, int left);
bool replaced_known(const Command *command, const char *name);

/* A word without an option; one is before it. Returns as replaced_word() does. */
int replaced_stray(Replaced *out, char **words, int left);
/* Words between the others, "on 64 h100", and clouds. */
bool replaced_is_filler(const char *word);
