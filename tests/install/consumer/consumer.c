/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program of someone else: it knows the public header alone, and asks the library for a model. */
#include <shardopt.h>
#include <stdio.h>

int main(int argc, char **argv) {
    char program[] = "shardopt", command[] = "models";
    char *words[] = {program, command, argc > 1 ? argv[1] : NULL, NULL};
    printf("linked with shardopt %s\n", shardopt_version());
    return shardopt_main(argc > 1 ? 3 : 2, words, stdout, stderr);
}
