/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/replaced.h: a command line whose words become ours, and what its readers share: options (synonyms.c) and
 * words without an option (sentence.c). Internal to them. */
#pragma once

#include "mesh/chip_json.h"
#include "models/config/model_json.h"
#include "search/cli/meaning.h"

/* The words as they become. */
typedef struct Replaced Replaced;
struct Replaced {
    /* Reads one word and, where its option takes a value that is not in the word, the next one. Returns how many were
     * read; 0: memory is out. */
    int (*word)(Replaced *out, char **words, int left);
    const Command *command;
    Arena *arena;
    char **words;
    int count, room;
    char *conditions;   /* of --require: NULL means none */
    const char *advice; /* NULL: none */
    const char *passed; /* options that no plan depends on: NULL: none */
    const char *chosen; /* options whose value is "auto" or the like; NULL: none */
    const char *left;   /* options of other programs that nobody here knows; words of a sentence; NULL: none */
    const char *unread;
    const char *question; /* what a question wants, "cheapest many tunes"; NULL: it is none */
    const char *trainer;  /* degrees of the plan of RL's trainer; NULL: none */
    double steps;         /* of a training; 0: not said */
    long mini, device,
        passes;       /* prompts of an update of RL, its answers of a device, and passes of a step; 0: not said */
    int64_t slices;   /* slices that are joined by DCN, as MaxText's axes say; 0: not said */
    int foreign;      /* words of other programs */
    long pools;       /* GPUs of pools for prompts and for decoding; 0: not said */
    bool cloud;       /* it names an instance of a cloud */
    bool rolls;       /* it says the batch of RL's rollout */
    bool total;       /* it says the batch of a step */
    bool accumulates; /* it says how many passes a step has */
    bool says_drafts, drafts; /* it says how many drafts a step has */
    bool tasked;              /* it says the task of a fine-tuning */
    bool after_pass;          /* the word before was left out */
    Unknown *unknown, **last;
    bool any, sized;     /* something became another word; the line says how large the machine is */
    bool counted;        /* it counts GPUs */
    bool model;          /* it has --model */
    bool tuned;          /* it says what is tuned */
    bool trained;        /* it says a batch, a length or tokens, as trainings have them */
    bool ranked, qlora;  /* it says the rank of adapters; they lie over quantised weights */
    bool maxtext;        /* it is of MaxText, whose batch of a device is of one pass */
    bool sentence;       /* a question in words: what is none of ours is passed over */
    bool micro, attends; /* it says the sequences of a pass; attention is data-parallel */
    unsigned roles;      /* which of REST_ROLES it has */
    bool vllm;           /* vLLM serves */
    const char *ranks;   /* of data parallelism as vLLM has them; NULL: none are said */
    bool dp_experts;     /* experts lie over data-parallel ranks of attention, as vLLM has them */
    int dp_attention;    /* ranks of data-parallel attention, which its tensor parallelism counts too; 0: none */
    bool instance_is_pod;
    double tokens_rate; /* output tokens a second that are requested; 0: none are */
    int instance;       /* chips of a cloud's instance that is named; 0: none is */
    long seq;           /* tokens of a sequence; 0: not said */
    double network;     /* Gb/s of a host, or of a NIC of it; 0: not said */
    bool network_is_of_nic;
    long train_gpus, rollout_gpus;       /* of RL; 0: not said */
    const char *mesh_sizes, *mesh_names; /* of JAX's mesh; NULL: not said */
    int64_t degrees;                     /* their product; 0: not said */
    double dataset;                      /* tokens of the data of a fine-tuning, once; 0: not said */
    bool scripted;                       /* a program reads the answer: nothing is guessed */
    unsigned pair;                       /* 1: the line has -n, 2: it has -g, each with a number */
    bool engine_degrees;                 /* RL's engines have degrees of their own, or a pipeline is said */
    bool loose;                          /* the batch may change a little */
    int nics;                            /* of a host; 0: not said */
    const char *params;                  /* of a model, "3B"; NULL: not said */
    double job;                          /* tokens of answers that a batch job has; 0: not said */
    const char *vram;                    /* GB of a chip that the line says; NULL: it says none */
    double hourly;                       /* dollars an hour of an instance; 0: not said */
    int actor_gpus, engines;             /* RL's GPUs that train on a host, and its engines; 0: not said */
    int loras, lora_rank;                /* adapters that are served, and their rank; 0: not said */
    double user_rate, peak;              /* tokens a second of a user, and the peak by the mean; 0: not said */
    bool pcie, pairs;                    /* boards without NVLink; what is tuned are preference pairs */
    const char *sizes;                   /* a model's sizes, "hidden_size=4096 "; NULL: none */
    Catalog catalog;                     /* replaced_catalog() */
    bool read;
    Zoo zoo; /* replaced_zoo() */
    bool zoo_is_read;
};

/* The chips, read when a word may be one; without any where they cannot be read, which is the command's to say. */
const Catalog *replaced_catalog(Replaced *out);
bool replaced_is_chip(Replaced *out, const char *name);
bool replaced_is_instance(Replaced *out, const char *name); /* of a cloud, or a DGX */
const Zoo *replaced_zoo(Replaced *out);

/* A model in one word or several ("llama 3.1 405b", "lama3-8b"): how many words, and its name, with advice where it is
 * a slip; 0: it is none, and the name is the first word. */
int replaced_model(Replaced *out, char **words, int left, const char **name);
/* A model's name with the tag of Ollama's as a part of it, "gpt-oss:20b"; a path stays. NULL: memory is out. */
char *replaced_tag(Replaced *out, const char *word);
/* "TP8-PP2", "tp=8,pp=2" as a plan, "tensor=8 pipeline=2"; NULL: it is none, or memory is out. */
char *replaced_degrees(Replaced *out, const char *word);

/* Adds a word as it is; as printf writes it; adds to the advice in the same way. False: memory is out, or what was made
 * for the words. */
bool replaced_keep(Replaced *out, char *word);
bool replaced_add(Replaced *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool replaced_advise(Replaced *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A chip or an instance in up to three words ("H100s", "rtx 4090", "a100 40gb", "dgx h100") into `name`: how many
 * words; 0: it is none. */
int replaced_chip_words(Replaced *out, char **words, int left, char name[64]);

/* A machine in one word, "8xH200" or "v5litepod-256", as options. False: it is none (*ok), or memory is out. */
bool replaced_machine(Replaced *out, const char *word, bool sized, bool *ok);
/* The same in several words, "1 node 8xL40S 48GB", or as other programs list it, "type=nvidia-l4,count=8". */
bool replaced_machine_text(Replaced *out, const char *text, bool *ok);
/* So many cards of so many gigabytes each; 0: of one card, unless the line says. False: memory is out. */
bool replaced_cards(Replaced *out, int cards, int gigabytes);
/* "3090", "4x48GB", "3090,3090" as the value of an option of machines. False: it is none (*ok). */
bool replaced_cards_text(Replaced *out, const char *value, bool machine, bool *ok);
/* A model by its size alone, "30B" or "20b-dense": the nearest of the plain ones, with advice; NULL: it is no size, or
 * none is near. */
const char *replaced_model_of_size(Replaced *out, const char *word);
/* What a word that begins with a hyphen means, or "key=value"; `next`: the word after it, or NULL. */
bool replaced_meaning(Replaced *out, const char *word, const char *next, Meaning *meaning);
bool replaced_has(const Replaced *out, const char *option);
/* Refuses a word, with what is said of it; one that nobody knows, with what to type. As Replaced.word returns. And
 * all of them in one error; always false. */
int replaced_refuse(Replaced *out, const char *word, const char *answer);
int replaced_unknown(Replaced *out, const char *word);
bool unknown_words(const Unknown *unknown, Error *error);
/* Roles of which there is one where FSDP is said to have all that is left. */
enum { REST_COUNT = 4 };
extern const char *const REST_ROLES[REST_COUNT];
bool replaced_rest(Replaced *out);
/* The model of the sizes that a line gives, as a config.json in a word, or what is missing. False: memory is out. */
bool replaced_add_model(Replaced *out);
/* Adds to the conditions of --require. False: memory is out. */
bool replaced_condition(Replaced *out, const char *condition);
/* A word, its value, and how many words both are. */
typedef struct {
    const char *word, *value;
    int read;
} Typed;
/* What the readers of machines do: as Replaced.word returns; below 0: the value is none of theirs. */
int replaced_machine_reader(Replaced *out, const char *reader, Typed typed);
int replaced_pair(Replaced *out, Typed typed, bool hosts);
/* What `@reader` of meanings.tsv does. As Replaced.word returns. */
int replaced_reader(Replaced *out, const char *reader, const char *word, const char *value, int read);

/* Notes what the whole line says, which the reading of single words depends on. */
void replaced_look_ahead(Replaced *out, int argc, char **argv);

/* Leaves out an option, whose name is in a list that the advice has. False: memory is out. */
bool replaced_leave(Replaced *out, const char **list, const char *name);
/* A word without an option; one is before it. Returns as Replaced.word does. */
int replaced_stray(Replaced *out, char **words, int left);
/* Whether a word is "--name" or "--name=value", of one name or of any. */
bool replaced_is(const char *word, const char *name);
bool replaced_is_any(const char *word, const char *const *names, size_t count);

/* What a value means as the field writes it: engines and launchers, tokens. NULL: nothing else than it says, or memory
 * is out (*ok). */
const char *replaced_value(Replaced *out, const char *option, const char *value, bool *ok);
/* The same of an option in the field's words, which count tokens in powers of two (number_tokens()). */
const char *replaced_size(Replaced *out, const char *option, const char *value, bool *ok);

/* --nodes of instances as chips; without a number it is one instance. Then a size where a line has none: who names a
 * workstation's card has one, and how soon is a question of several machines. False: memory is out. */
bool replaced_count_instances(Replaced *out);
bool replaced_add_size(Replaced *out);
/* The chip of the memory that the line says, and the price of one of an instance. False: memory is out. */
bool replaced_add_memory(Replaced *out);
bool replaced_add_job(Replaced *out);
/* Adapters and users of serving, each of which two words say; the board without NVLink of the chip that the line has.
 * False: memory is out. */
bool replaced_add_served(Replaced *out);
bool replaced_add_board(Replaced *out);
/* The value of an option among the words as they became; NULL: it is not there. */
const char *replaced_option(const Replaced *out, const char *option);
/* Puts a word in the place of an option with its value, which is there; NULL: takes it away. True. */
bool replaced_put(Replaced *out, const char *option, char *word);
/* What RL's words say together: prompts of a step and answers of an update, and the trainer's plan; the slices of
 * MaxText's axes. False: memory is out. */
bool replaced_add_work(Replaced *out);
/* vLLM's data-parallel ranks: copies of a dense model; a mixture's experts are cut over all of them. False: memory is
 * out. */
bool replaced_add_ranks(Replaced *out);
/* Output tokens a second as requests a second, of the answers that the line has. False: memory is out. */
bool replaced_add_rate(Replaced *out);

/* Words between the others, "on 64 h100", and clouds. */
bool replaced_is_filler(const char *word);

/* A number where `--output` was meant as the tokens of an answer, as it once was. */
bool value_is_answer_length(const Replaced *out, const char *option, const char *value);
/* "4M", "16Mi": nobody has as many sequences in a batch, so that these are tokens. */
bool value_is_millions(const char *value);
/* "--itl 25": nobody waits so many seconds. */
bool value_is_milliseconds(const char *value);
/* "--batch 256": no step has so few tokens. */
bool value_is_batch_of_sequences(const Replaced *out, const char *option, const char *value);
