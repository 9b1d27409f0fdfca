# SPDX-License-Identifier: GPL-3.0-or-later
# cmake -DFOLDER=models/families -DOUT=families.c -P Families.cmake: the files of the folder as texts in C.
file(GLOB families ${FOLDER}/*.json)
set(code "/* Made by cmake/Families.cmake. */\n#include \"models/config/family.h\"\n\nconst char *const FAMILY_TEXTS[] = {\n")
foreach(family ${families})
  file(READ ${family} text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\"\n\"" text "${text}")
  string(APPEND code "\"${text}\",\n")
endforeach()
string(APPEND code "NULL};\n")
file(WRITE ${OUT} "${code}")
