# SPDX-License-Identifier: GPL-3.0-or-later
# Every tests/FOLDER/test_NAME.c, at any depth, is a program of Criterion; tests/install are scripts; tests/tsan and tests/fuzz are plain
# programs for the presets of these names. A folder NAME next to test_NAME.c holds sources of that program alone: in place
# of those in the archive that define the same; so does NAME/families for the families of models.
set(environment OMP_WAIT_POLICY=passive) # tests run in parallel: a thread that waits must not spin

pkg_check_modules(CRITERION IMPORTED_TARGET criterion)
if(CRITERION_FOUND AND NOT SHARDOPT_FUZZ AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize=thread")
  file(GLOB_RECURSE tests CONFIGURE_DEPENDS tests/test_*.c)
  foreach(source ${tests})
    file(RELATIVE_PATH target ${CMAKE_CURRENT_SOURCE_DIR}/tests ${source}) # search/engine/test_search.c
    string(REGEX REPLACE "[.]c$" "" target ${target})
    string(REPLACE "/" "_" target ${target})
    string(REGEX REPLACE "/test_([a-z0-9_]+)[.]c$" "/\\1" folder ${source})
    file(GLOB own CONFIGURE_DEPENDS ${folder}/*.c)
    list(FILTER own EXCLUDE REGEX "/test_[a-z0-9_]+[.]c$") # tests of a room of that name
    if(IS_DIRECTORY ${folder}/families)
      shardopt_families(${folder}/families ${CMAKE_CURRENT_BINARY_DIR}/${target}_families.c)
      list(APPEND own ${CMAKE_CURRENT_BINARY_DIR}/${target}_families.c)
    endif()
    if(target MATCHES "^benchmarks_kernel_")
      list(APPEND own ${SHARDOPT_KERNEL})
    endif()
    add_executable(${target} ${source} ${own})
    shardopt_inside(${target})
    target_link_libraries(${target} PRIVATE PkgConfig::CRITERION)
    # A test links the machine code of the objects: whole-program linking of a hundred tests took longer than compiling.
    target_link_options(${target} PRIVATE -fno-lto)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>) # -O3 takes twice as long, for what runs once
    add_test(NAME ${target} COMMAND ${target})
    set_tests_properties(${target} PROPERTIES TIMEOUT 600 ENVIRONMENT "${environment}")
  endforeach()
endif()

# Criterion forks, which the thread sanitizer does not bear: one program that searches with several numbers of threads.
# And one that has eight threads use the library.
if(NOT SHARDOPT_FUZZ)
  foreach(name driver library)
    add_executable(tsan_${name} tests/tsan/${name}.c)
    shardopt_inside(tsan_${name})
    target_link_options(tsan_${name} PRIVATE -fno-lto)
    add_test(NAME tsan_${name} COMMAND tsan_${name})
  endforeach()
  # Debian's libomp is not compiled for the sanitizer; its tool libarcher, which libomp finds by itself, reports what is
  # ordered by it, and what only libomp saw is not counted.
  set_tests_properties(tsan_driver tsan_library PROPERTIES TIMEOUT 900
                       ENVIRONMENT "TSAN_OPTIONS=ignore_noninstrumented_modules=1:halt_on_error=1")
endif()

# One program with every fuzzer: the rows of tests/fuzz/fuzz.c.
if(SHARDOPT_FUZZ)
  file(GLOB fuzzers CONFIGURE_DEPENDS tests/fuzz/*.c)
  add_executable(fuzz ${fuzzers})
  shardopt_inside(fuzz)
  target_link_options(fuzz PRIVATE -fsanitize=fuzzer)
  file(STRINGS tests/fuzz/fuzz.c rows REGEX "{[.]name = ")
  foreach(row ${rows})
    string(REGEX REPLACE ".*[.]name = \"([a-z_0-9]+)\".*" "\\1" name "${row}")
    file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/corpus/fuzz_${name}) # what it finds goes there
    file(GLOB seeds LIST_DIRECTORIES true CONFIGURE_DEPENDS tests/data/json tests/data/models/configs tests/data/import tests/fuzz/fuzz_${name})
    add_test(NAME fuzz_${name} COMMAND fuzz -max_total_time=4 -max_len=65536 -timeout=10
             ${CMAKE_CURRENT_BINARY_DIR}/corpus/fuzz_${name} ${seeds})
    set_tests_properties(fuzz_${name} PROPERTIES ENVIRONMENT FUZZER=${name})
  endforeach()
  add_custom_target(fuzzers DEPENDS fuzz) # what the preset builds
endif()

# The transcripts of README.md and of the pages take long without optimisation: only builds without sanitizers run them.
if(TARGET shardopt AND NOT SHARDOPT_FUZZ AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize=thread")
  set(scripts install)
  if(NOT CMAKE_C_FLAGS MATCHES "-fsanitize")
    list(APPEND scripts readme validate examples)
  endif()
  foreach(name ${scripts})
    add_test(NAME install_${name} COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/tests/install/${name}.sh)
    set_tests_properties(install_${name} PROPERTIES TIMEOUT 300 ENVIRONMENT
      "CMAKE=${CMAKE_COMMAND};CC=${CMAKE_C_COMPILER};CFLAGS=${CMAKE_C_FLAGS};BUILD=${CMAKE_CURRENT_BINARY_DIR};SOURCE=${CMAKE_CURRENT_SOURCE_DIR}")
  endforeach()
endif()

# The tabulator in the shells that are there; the Python package, of the sources with the program of this build. What is
# made of them for other machines, packaging/, is tried by `.ci/run package`.
find_package(Python3 COMPONENTS Interpreter QUIET)
set(SHARDOPT_PYTHON "${Python3_EXECUTABLE}" CACHE FILEPATH "Python with JAX, for the oracle; with jsonschema, for schemas")
if(TARGET shardopt AND Python3_EXECUTABLE AND NOT SHARDOPT_FUZZ AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize")
  add_test(NAME install_words COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/packaging/words.py
           $<TARGET_FILE:shardopt> --check)
  add_test(NAME install_completion COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/install/completion.py
           $<TARGET_FILE:shardopt>)
  add_test(NAME python COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/python/test_shardopt.py)
  add_test(NAME python_jax COMMAND ${SHARDOPT_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/tests/python/test_jax.py)
  add_test(NAME install_dependencies COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/install/dependencies.py)
  add_test(NAME install_action COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/install/action.py
           $<TARGET_FILE:shardopt>)
  add_test(NAME schema COMMAND ${SHARDOPT_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/tests/schema/check.py $<TARGET_FILE:shardopt>)
  add_test(NAME rl_simulate COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/rl/simulate.py $<TARGET_FILE:shardopt>)
  add_test(NAME launch_tuning_keys COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/launch/tuning_keys.py $<TARGET_FILE:shardopt>)
  add_test(NAME launch_table COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/launch/emit_table.py $<TARGET_FILE:shardopt>)
  add_test(NAME launch_round_trip COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/launch/round_trip.py
           $<TARGET_FILE:shardopt> --jobs 2 --share 1/130) # all of them take two hours of a core
  set_tests_properties(launch_table launch_round_trip PROPERTIES TIMEOUT 600 LABELS launch)
  add_test(NAME rl_figures COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/rl/figures.py $<TARGET_FILE:shardopt> some)
  add_test(NAME rl_first_answers COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/rl/first_answers.py $<TARGET_FILE:shardopt>)
  add_test(NAME rl_replay COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/rl/replay.py $<TARGET_FILE:shardopt> --check)
  add_test(NAME rl_frameworks COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/rl/frameworks.py $<TARGET_FILE:shardopt>)
  add_test(NAME kernels_forms COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/cost/kernels/forms.py
           $<TARGET_FILE:shardopt> ${CMAKE_CURRENT_SOURCE_DIR}/../shared/kernels)
  add_test(NAME kernels_table COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/cost/kernels/table.py
           $<TARGET_FILE:shardopt> ${CMAKE_CURRENT_SOURCE_DIR}/../shared/kernels)
  add_test(NAME kernels_ops COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/cost/kernels/ops.py $<TARGET_FILE:shardopt>)
  set_tests_properties(kernels_forms kernels_table kernels_ops PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300)
  add_test(NAME measured_convert COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/cost/measured/test_convert.py)
  set_tests_properties(measured_convert PROPERTIES ENVIRONMENT
    "SHARDOPT_PROGRAM=$<TARGET_FILE:shardopt>;PYTHONDONTWRITEBYTECODE=1")
  add_test(NAME measured_lab COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/cost/measured/test_lab.py)
  add_test(NAME measured_lab_serving COMMAND ${Python3_EXECUTABLE}
           ${CMAKE_CURRENT_SOURCE_DIR}/tests/cost/measured/test_lab_serving.py)
  set_tests_properties(measured_lab measured_lab_serving PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300 ENVIRONMENT
    "SHARDOPT_PROGRAM=$<TARGET_FILE:shardopt>;PYTHONDONTWRITEBYTECODE=1")
  set_tests_properties(install_action install_completion schema rl_frameworks PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300)
  set_tests_properties(python_jax PROPERTIES SKIP_RETURN_CODE 77)
  set_tests_properties(python python_jax PROPERTIES TIMEOUT 300 ENVIRONMENT
    "${environment};PYTHONPATH=${CMAKE_CURRENT_SOURCE_DIR}/python;SHARDOPT_PROGRAM=$<TARGET_FILE:shardopt>;PYTHONDONTWRITEBYTECODE=1")
endif()

# A figure added as one row and its getter: the program and a caller of the library, built with them, say it everywhere.
if(TARGET shardopt AND Python3_EXECUTABLE AND NOT SHARDOPT_FUZZ AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize")
  set(tour ${CMAKE_CURRENT_SOURCE_DIR}/tests/search/report/new_figure)
  set(planted ${CMAKE_CURRENT_BINARY_DIR}/new_figure/plan_fields.c)
  add_custom_command(OUTPUT ${planted} DEPENDS ${tour}.py search/report/plan_fields.c
                     COMMAND ${Python3_EXECUTABLE} ${tour}.py plant ${planted})
  add_executable(new_figure_program search/cli/main.c ${planted})
  add_executable(new_figure_library ${tour}_library.c ${planted})
  foreach(name program library)
    shardopt_inside(new_figure_${name})
    target_link_options(new_figure_${name} PRIVATE -fno-lto)
  endforeach()
  add_test(NAME new_figure COMMAND ${Python3_EXECUTABLE} ${tour}.py try $<TARGET_FILE:new_figure_program>
                                   $<TARGET_FILE:new_figure_library>)
  set_tests_properties(new_figure PROPERTIES TIMEOUT 300 ENVIRONMENT
    "${environment};PYTHONPATH=${CMAKE_CURRENT_SOURCE_DIR}/python;PYTHONDONTWRITEBYTECODE=1")
  add_test(NAME figures COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/schema/figures.py
                                $<TARGET_FILE:shardopt> --check)
endif()

# Whole commands, as people type them: tests/search/cli/test_*.py.
if(TARGET shardopt AND Python3_EXECUTABLE AND NOT SHARDOPT_FUZZ AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize=thread")
  file(GLOB commands CONFIGURE_DEPENDS tests/search/cli/test_*.py)
  string(REGEX MATCH "-fsanitize" sanitized "${CMAKE_C_FLAGS}") # empty: it is not
  foreach(script ${commands})
    get_filename_component(name ${script} NAME_WE)
    add_test(NAME search_cli_${name} COMMAND ${Python3_EXECUTABLE} ${script})
    set_tests_properties(search_cli_${name} PROPERTIES TIMEOUT 600 ENVIRONMENT
      "${environment};SHARDOPT_PROGRAM=$<TARGET_FILE:shardopt>;PYTHONDONTWRITEBYTECODE=1;SANITIZED=${sanitized}")
  endforeach()
endif()

# XLA's compiler compared with the cost model, where a Python with JAX is found: SHARDOPT_PYTHON names another one.
if(TARGET shardopt AND SHARDOPT_PYTHON AND NOT SHARDOPT_FUZZ AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize=thread")
  add_test(NAME oracle_jax COMMAND ${SHARDOPT_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/tests/oracle/oracle.py
           --shardopt $<TARGET_FILE:shardopt>)
  set_tests_properties(oracle_jax PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900 LABELS oracle)
  # Whole programs, compiled for a TPU slice by libtpu, which needs none.
  set(programs ${CMAKE_CURRENT_SOURCE_DIR}/tests/fuzz/fuzz_program)
  add_test(NAME oracle_program COMMAND ${SHARDOPT_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/tests/oracle/program.py
           --check $<TARGET_FILE:shardopt> ${programs}/recommender.mlir ${programs}/mixture.mlir)
  set_tests_properties(oracle_program PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 1800 LABELS oracle)
  add_test(NAME oracle_program_plan COMMAND ${SHARDOPT_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/tests/oracle/program.py
           --agree $<TARGET_FILE:shardopt>)
  set_tests_properties(oracle_program_plan PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300 LABELS oracle)
  # Whole steps: what compilers were recorded to send and keep, against what the program says now.
  add_test(NAME oracle_whole_step COMMAND ${Python3_EXECUTABLE}
           ${CMAKE_CURRENT_SOURCE_DIR}/tests/oracle/whole_step/whole_step.py --shardopt $<TARGET_FILE:shardopt>)
  set_tests_properties(oracle_whole_step PROPERTIES TIMEOUT 300 LABELS oracle)
endif()

# What is emitted, read by the packages that it is for.
set(SHARDOPT_LAUNCH_PYTHON "${SHARDOPT_PYTHON}" CACHE FILEPATH "Python with the launchers' packages, for tests/launch")
if(TARGET shardopt AND SHARDOPT_LAUNCH_PYTHON AND NOT SHARDOPT_FUZZ AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize")
  foreach(name maxtext jax gpu tuning serving jobs)
    add_test(NAME launch_${name} COMMAND ${SHARDOPT_LAUNCH_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/tests/launch/emit_${name}.py
             --shardopt $<TARGET_FILE:shardopt>)
    set_tests_properties(launch_${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900 LABELS launch ENVIRONMENT "${environment}")
  endforeach()
endif()

# Who includes whom, what is pure, how long things are; and that each of these rules is able to fail.
if(Python3_EXECUTABLE AND NOT SHARDOPT_FUZZ AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize=thread")
  add_test(NAME architecture COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/architecture/check.py)
  add_test(NAME architecture_planted COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/architecture/planted.py)
  set_tests_properties(architecture architecture_planted PROPERTIES TIMEOUT 300 ENVIRONMENT "CC=${CMAKE_C_COMPILER}")
endif()

# Certificates, by a checker that knows nothing of the program but its files.
if(TARGET shardopt AND Python3_EXECUTABLE AND NOT SHARDOPT_FUZZ AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize=thread")
  add_test(NAME certificate COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/certificate/run.py
           $<TARGET_FILE:shardopt> quick)
  add_test(NAME certificate_serving COMMAND ${Python3_EXECUTABLE}
           ${CMAKE_CURRENT_SOURCE_DIR}/tests/certificate/run_serving.py $<TARGET_FILE:shardopt>)
  set_tests_properties(certificate certificate_serving PROPERTIES TIMEOUT 900 ENVIRONMENT "${environment}")
endif()

# The cost model a second time, in Python, from docs/model.md and the data files: random plans agree in every row.
if(TARGET shardopt AND Python3_EXECUTABLE AND NOT SHARDOPT_FUZZ AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize")
  add_test(NAME reference COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/reference/run.py
           $<TARGET_FILE:shardopt>)
  # Forged certificates are caught, what is narrower is no faster, and no plan found from outside beats a proven one.
  add_test(NAME certificate_forged COMMAND ${Python3_EXECUTABLE}
           ${CMAKE_CURRENT_SOURCE_DIR}/tests/certificate/forge.py $<TARGET_FILE:shardopt> quick)
  # Usual requests have certificates that hold, and what is odd is weighed as the page says.
  add_test(NAME certificate_true COMMAND ${Python3_EXECUTABLE}
           ${CMAKE_CURRENT_SOURCE_DIR}/tests/certificate/true.py $<TARGET_FILE:shardopt> quick)
  add_test(NAME certificate_odd COMMAND ${Python3_EXECUTABLE}
           ${CMAKE_CURRENT_SOURCE_DIR}/tests/certificate/odd.py $<TARGET_FILE:shardopt> 10)
  add_test(NAME certificate_narrower COMMAND ${Python3_EXECUTABLE}
           ${CMAKE_CURRENT_SOURCE_DIR}/tests/certificate/narrower.py $<TARGET_FILE:shardopt> --pairs 40)
  add_test(NAME certificate_formats COMMAND ${Python3_EXECUTABLE}
           ${CMAKE_CURRENT_SOURCE_DIR}/tests/certificate/formats.py $<TARGET_FILE:shardopt> --requests 8)
  add_test(NAME certificate_outside COMMAND ${Python3_EXECUTABLE}
           ${CMAKE_CURRENT_SOURCE_DIR}/tests/certificate/outside.py $<TARGET_FILE:shardopt> --requests 2 --each 80)
  set_tests_properties(certificate_forged certificate_narrower certificate_outside certificate_odd
                       certificate_formats PROPERTIES TIMEOUT 300
                       ENVIRONMENT "${environment}")
  set_tests_properties(certificate_true PROPERTIES TIMEOUT 900 ENVIRONMENT "${environment}")
  set_tests_properties(reference PROPERTIES TIMEOUT 300 ENVIRONMENT "${environment}")
endif()

# Traces: made from plans and read back; public ones where they are at hand ($SHARDOPT_TRACES).
if(TARGET shardopt AND Python3_EXECUTABLE AND NOT SHARDOPT_FUZZ AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize=thread")
  foreach(name round_trip samples bench)
    add_test(NAME traces_${name} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/traces/${name}.py
             $<TARGET_FILE:shardopt>)
    set_tests_properties(traces_${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900 ENVIRONMENT "${environment}")
  endforeach()
endif()

# The project's own plans against a committed baseline, and that what is worse is caught.
if(TARGET shardopt AND Python3_EXECUTABLE AND NOT SHARDOPT_FUZZ AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize=thread")
  add_test(NAME gate COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/gate/run.py
           $<TARGET_FILE:shardopt>)
  set_tests_properties(gate PROPERTIES TIMEOUT 900 ENVIRONMENT "${environment}")
endif()

# That the shipped serving profile is ahead of another program's predictions of the same measured rows.
if(TARGET shardopt AND Python3_EXECUTABLE AND NOT SHARDOPT_FUZZ AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize")
  add_test(NAME peer COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/peer/side_by_side.py
           --shardopt $<TARGET_FILE:shardopt> --gate)
  set_tests_properties(peer PROPERTIES WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} ENVIRONMENT "${environment}")
endif()

# Published throughput of deployments, asked for under the conditions of each source.
if(TARGET shardopt AND Python3_EXECUTABLE AND NOT SHARDOPT_FUZZ AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize")
  add_test(NAME serving_deployments COMMAND ${Python3_EXECUTABLE}
           ${CMAKE_CURRENT_SOURCE_DIR}/tests/search/serving/deployments.py --shardopt $<TARGET_FILE:shardopt>)
  add_test(NAME serving_pictures COMMAND ${Python3_EXECUTABLE}
           ${CMAKE_CURRENT_SOURCE_DIR}/tests/search/serving/pictures.py $<TARGET_FILE:shardopt>)
  set_tests_properties(serving_deployments serving_pictures PROPERTIES ENVIRONMENT "${environment}")
endif()

# That no answer moves unseen. Other processors' mathematical functions may differ in a last digit.
if(TARGET shardopt AND Python3_EXECUTABLE AND NOT SHARDOPT_FUZZ AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize" AND
   CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  add_test(NAME snapshot COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/snapshot/run.py check
           --program $<TARGET_FILE:shardopt> --repo ${CMAKE_CURRENT_SOURCE_DIR} --jobs 2 --brisk)
  set_tests_properties(snapshot PROPERTIES TIMEOUT 900 PROCESSORS 2)
endif()

# Requests as people make them: whether the first plan can be launched as it is printed.
if(TARGET shardopt AND Python3_EXECUTABLE AND NOT SHARDOPT_FUZZ AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize")
  add_test(NAME first_answers COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/first_answers/run.py
           $<TARGET_FILE:shardopt>)
  set_tests_properties(first_answers PROPERTIES TIMEOUT 900 ENVIRONMENT "${environment}")
  add_test(NAME recipes COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/recipes/run.py
                                $<TARGET_FILE:shardopt> --some)
  set_tests_properties(recipes PROPERTIES TIMEOUT 900 ENVIRONMENT "${environment}")
  # Models of every family, counted by the classes of transformers.
  add_test(NAME models_transformers COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/models/transformers.py
                                            $<TARGET_FILE:shardopt>)
  set_tests_properties(models_transformers PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300 ENVIRONMENT "${environment}")
endif()

# Pages in headless Chromium, where it, Node and what drives them are there: tests/browser/run.sh says what is missing.
if(TARGET shardopt AND NOT SHARDOPT_FUZZ AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize")
  add_test(NAME browser_look COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/tests/browser/run.sh $<TARGET_FILE:shardopt>
           ${CMAKE_CURRENT_SOURCE_DIR})
  set_tests_properties(browser_look PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600 ENVIRONMENT "${environment}")
  # The same answers by the page that has the program inside.
  add_test(NAME web_page COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/tests/web/run.sh $<TARGET_FILE:shardopt>
           ${CMAKE_CURRENT_SOURCE_DIR})
  set_tests_properties(web_page PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 1200 ENVIRONMENT "${environment}")
endif()

# Four ranks on one machine, one of them killed.
if(TARGET shardopt AND SHARDOPT_MPI)
  add_test(NAME mpi_sweep COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/tests/mpi/sweep.sh $<TARGET_FILE:shardopt>)
  set_tests_properties(mpi_sweep PROPERTIES TIMEOUT 600 ENVIRONMENT
    "${environment};MPIEXEC=${MPIEXEC_EXECUTABLE};SOURCE=${CMAKE_CURRENT_SOURCE_DIR}")
endif()

# What fails on a machine: memory, calls, threads, descriptors; and unusual places to run in. Sampled here, all of it
# nightly (.ci/run nightly).
if(TARGET shardopt AND Python3_EXECUTABLE AND NOT SHARDOPT_FUZZ AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize")
  add_test(NAME faults_allocations COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/faults/allocations.py
           $<TARGET_FILE:shardopt> --jobs 1 --tail 3 --drawn 2)
  add_test(NAME faults_calls COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/faults/runs.py
           $<TARGET_FILE:shardopt> calls --jobs 1)
  add_test(NAME faults_places COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/faults/runs.py
           $<TARGET_FILE:shardopt> descriptors locale stack threads signals catalog)
  set_tests_properties(faults_allocations faults_calls faults_places PROPERTIES TIMEOUT 600 ENVIRONMENT
                       "${environment};CC=${CMAKE_C_COMPILER}")
endif()
