# SPDX-License-Identifier: GPL-3.0-or-later
# What `cmake --install` puts in place. Nothing of it names the prefix, so that --prefix and a later move both work.
include(CMakePackageConfigHelpers)

if(TARGET shardopt)
  install(TARGETS shardopt RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(FILES search/shardopt.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES docs/shardopt.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES docs/completion/shardopt.bash RENAME shardopt DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES docs/completion/_shardopt DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES docs/json.md docs/sweep.sbatch docs/workflow.yml DESTINATION ${CMAKE_INSTALL_DOCDIR})
foreach(folder models/zoo mesh/catalog cost/profiles cost/optimizers cost/serving/profiles)
  install(DIRECTORY ${folder}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/shardopt/${folder} FILES_MATCHING PATTERN *.json)
endforeach()
install(DIRECTORY cost/serving/workloads/ DESTINATION ${CMAKE_INSTALL_DATADIR}/shardopt/cost/serving/workloads
        FILES_MATCHING PATTERN *.tsv)
install(DIRECTORY cost/measured/data/ DESTINATION ${CMAKE_INSTALL_DATADIR}/shardopt/cost/measured/data FILES_MATCHING PATTERN *.tsv)
install(FILES cost/measured/README.md DESTINATION ${CMAKE_INSTALL_DATADIR}/shardopt/cost/measured)

# CMake: find_package(shardopt), then shardopt::shardopt: the shared library where it was built, else the archive.
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/shardopt)
set_target_properties(shardopt_static PROPERTIES EXPORT_NAME static)
if(BUILD_SHARED_LIBS)
  set_target_properties(shardopt_shared PROPERTIES EXPORT_NAME shared)
endif()
install(TARGETS ${installed} EXPORT shardopt-targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT shardopt-targets NAMESPACE shardopt:: FILE shardoptTargets.cmake DESTINATION ${package})
configure_package_config_file(cmake/shardoptConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/shardoptConfig.cmake
                              INSTALL_DESTINATION ${package})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/shardoptConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion) # nothing is promised before 1.0
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/shardoptConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/shardoptConfigVersion.cmake
        cmake/FindGLPK.cmake DESTINATION ${package})

# pkg-config: an archive alone leaves what it needs to whoever links it; a shared library brings it along.
set(needs "-lglpk -lm ${OpenMP_C_FLAGS}")
if(BUILD_SHARED_LIBS)
  set(PC_LIBS "")
  set(PC_PRIVATE "Requires.private: libcjson popt smartcols zlib\nLibs.private: ${needs}")
else()
  set(PC_LIBS " ${needs}")
  set(PC_PRIVATE "Requires: libcjson popt smartcols zlib")
endif()
file(RELATIVE_PATH PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" PC_UP ${PC_UP})
configure_file(cmake/shardopt.pc.in shardopt.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/shardopt.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
