# SPDX-License-Identifier: GPL-3.0-or-later
# What `cmake --install` puts in place. Nothing of it names the prefix, so that --prefix and a later move both work.
# `--component program` leaves out what only a compiler needs.
include(CMakePackageConfigHelpers)

if(TARGET shardopt)
  install(TARGETS shardopt RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
endif()
install(FILES search/shardopt.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(FILES docs/shardopt.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
install(FILES docs/completion/shardopt.bash RENAME shardopt DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
install(FILES docs/completion/_shardopt DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT program)
install(FILES docs/completion/shardopt.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
install(FILES docs/json.md docs/sweep.sbatch docs/workflow.yml DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
foreach(folder models/zoo models/unplanned mesh/catalog cost/profiles cost/kernels cost/optimizers cost/serving/profiles cost/rl/profiles cost/trace/names)
  install(DIRECTORY ${folder}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/shardopt/${folder} COMPONENT program FILES_MATCHING PATTERN *.json)
endforeach()
foreach(folder cost/serving/workloads cost/serving/published cost/measured/data)
  install(DIRECTORY ${folder}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/shardopt/${folder} COMPONENT program FILES_MATCHING PATTERN *.tsv PATTERN *.jsonl)
endforeach()
# What checks a certificate: next to the data files, which it reads from there.
foreach(folder tests/reference tests/certificate)
  install(DIRECTORY ${folder}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/shardopt/${folder} COMPONENT program
          FILES_MATCHING PATTERN *.py PATTERN *.tsv PATTERN run*.py EXCLUDE PATTERN __pycache__ EXCLUDE)
endforeach()
install(DIRECTORY docs/schema/ DESTINATION ${CMAKE_INSTALL_DATADIR}/shardopt/schema COMPONENT program FILES_MATCHING PATTERN *.json)
# What `calibrate` runs.
install(FILES cost/measured/lab/calibrate.py cost/measured/lab/calibrate_serving.py cost/measured/lab/fit.py
              cost/measured/lab/folds.py cost/measured/lab/predict.py cost/measured/lab/report.py cost/measured/lab/score.py
              cost/measured/lab/serving.py cost/measured/lab/serving_score.py cost/measured/lab/set.py
        DESTINATION ${CMAKE_INSTALL_DATADIR}/shardopt/cost/measured/lab COMPONENT program)
install(FILES docs/skill.md RENAME SKILL.md DESTINATION ${CMAKE_INSTALL_DATADIR}/shardopt/skill COMPONENT program) # for agents
install(FILES cost/measured/README.md DESTINATION ${CMAKE_INSTALL_DATADIR}/shardopt/cost/measured COMPONENT program)

# CMake: find_package(shardopt), then shardopt::shardopt: the shared library where it was built, else the archive.
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/shardopt)
set_target_properties(shardopt_static PROPERTIES EXPORT_NAME static)
if(BUILD_SHARED_LIBS)
  set_target_properties(shardopt_shared PROPERTIES EXPORT_NAME shared)
endif()
install(TARGETS ${installed} EXPORT shardopt-targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
# The archive's objects are linked as they are, in a tenth of a second: what whole-program linking reads is left out of it
# (that took whoever links it twenty seconds).
if(SHARDOPT_WHOLE_PROGRAM)
  install(CODE "
    set(archive \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/libshardopt.a\")
    execute_process(COMMAND ${CMAKE_OBJCOPY} --enable-deterministic-archives --wildcard --remove-section=.gnu.lto_*
                    --remove-section=.gnu.debuglto_* --strip-symbol=__gnu_lto_slim \"\${archive}\" RESULT_VARIABLE failed)
    if(failed)
      message(FATAL_ERROR \"\${archive}: its sections for whole-program linking cannot be left out\")
    endif()" COMPONENT development)
endif()
install(EXPORT shardopt-targets NAMESPACE shardopt:: FILE shardoptTargets.cmake DESTINATION ${package} COMPONENT development)
configure_package_config_file(cmake/shardoptConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/shardoptConfig.cmake
                              INSTALL_DESTINATION ${package})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/shardoptConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion) # nothing is promised before 1.0
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/shardoptConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/shardoptConfigVersion.cmake
        cmake/FindGLPK.cmake DESTINATION ${package} COMPONENT development)

# pkg-config: an archive alone leaves what it needs to whoever links it; a shared library brings it along.
set(needs "-lglpk -lm ${OpenMP_C_FLAGS}")
if(BUILD_SHARED_LIBS)
  set(PC_LIBS "")
  set(PC_PRIVATE "Requires.private: libcjson popt smartcols sqlite3 yaml-0.1 zlib\nLibs.private: ${needs}")
else()
  set(PC_LIBS " ${needs}")
  set(PC_PRIVATE "Requires: libcjson popt smartcols sqlite3 yaml-0.1 zlib")
endif()
file(RELATIVE_PATH PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" PC_UP ${PC_UP})
configure_file(cmake/shardopt.pc.in shardopt.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/shardopt.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

# The notes on the data files come last: they are trusted where nothing was done to the data after them.
if(TARGET data_index)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/names.tsv DESTINATION ${CMAKE_INSTALL_DATADIR}/shardopt COMPONENT program)
endif()
