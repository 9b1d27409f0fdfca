# SPDX-License-Identifier: GPL-3.0-or-later
# cmake -DTABLE=names.tsv -DOUT=names_table.c -P Names.cmake: the rows of the table and their cells in C.
cmake_minimum_required(VERSION 3.21)
file(READ ${TABLE} rows)
string(REGEX REPLACE "(^|\n)#[^\n]*" "" rows "${rows}")
string(REGEX REPLACE "\n\n+" "\n" rows "${rows}")
string(REGEX REPLACE "^\n|\n$" "" rows "${rows}")
string(REPLACE "\\" "\\\\" rows "${rows}")
string(REPLACE "\"" "\\\"" rows "${rows}")
string(REPLACE "\t" "\", \"" rows "${rows}")
string(REPLACE "\n" "\")\nROW(\"" rows "${rows}")
file(WRITE ${OUT} "/* Made by cmake/Names.cmake. */\n#include \"search/cli/names.h\"\n\n"
     "#define CELLS(KINDS, MEANING, NAMES, NOTE, ...) {KINDS, MEANING, NAMES, NOTE},\n"
     "#define ROW(KINDS, MEANING, ...) CELLS(KINDS, MEANING, __VA_ARGS__, NULL, )\n\n"
     "const NameRow NAME_ROWS[] = {\nROW(\"${rows}\")\n};\n"
     "const int NAME_ROW_COUNT = sizeof NAME_ROWS / sizeof *NAME_ROWS;\n")
