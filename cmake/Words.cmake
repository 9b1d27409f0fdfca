# SPDX-License-Identifier: GPL-3.0-or-later
# cmake -DTABLE=meanings.tsv -DOUT=words.c -P Words.cmake: the rows of the table and their cells in C, and the parts of
# names, sorted.
cmake_minimum_required(VERSION 3.21)
file(READ ${TABLE} rows)
string(REGEX REPLACE "(^|\n)#[^\n]*" "" rows "${rows}")
string(REGEX REPLACE "\n\n+" "\n" rows "${rows}")
string(REGEX REPLACE "^\n|\n$" "" rows "${rows}")
string(REGEX MATCHALL "(^|\n)(part\t[^\n]*|name\t[^\t]*)" parts "${rows}")
string(TOLOWER "${parts}" parts)
string(REGEX REPLACE "(^|\n|;)(part|name)\t|[][|!*\t]" " " parts "${parts}")
string(REGEX MATCHALL "[^ ;\n]+" parts "${parts}")
list(REMOVE_DUPLICATES parts)
list(SORT parts)
string(REPLACE ";" "\", \"" parts "${parts}")
string(REPLACE "\\" "\\\\" rows "${rows}")
string(REPLACE "\"" "\\\"" rows "${rows}")
string(REPLACE "\t" "\", \"" rows "${rows}")
string(REPLACE "\n" "\"}},\n{{\"" rows "${rows}")
file(WRITE ${OUT} "/* Made by cmake/Words.cmake. */\n#include \"search/cli/meaning.h\"\n\n"
     "const WordRow WORD_ROWS[] = {\n{{\"${rows}\"}},\n};\n"
     "const int WORD_ROW_COUNT = sizeof WORD_ROWS / sizeof *WORD_ROWS;\n\n"
     "const char *const WORD_PARTS[] = {\"${parts}\"};\n"
     "const int WORD_PART_COUNT = sizeof WORD_PARTS / sizeof *WORD_PARTS;\n")
