# SPDX-License-Identifier: GPL-3.0-or-later
# GLPK comes without a pkg-config file: GLPK::GLPK, from glpk.h and the library.
find_path(GLPK_INCLUDE_DIR glpk.h PATH_SUFFIXES glpk)
find_library(GLPK_LIBRARY glpk)
mark_as_advanced(GLPK_INCLUDE_DIR GLPK_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(GLPK REQUIRED_VARS GLPK_LIBRARY GLPK_INCLUDE_DIR)
if(GLPK_FOUND AND NOT TARGET GLPK::GLPK)
  add_library(GLPK::GLPK UNKNOWN IMPORTED)
  set_target_properties(GLPK::GLPK PROPERTIES IMPORTED_LOCATION ${GLPK_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${GLPK_INCLUDE_DIR})
  if(GLPK_LIBRARY MATCHES "[.]a$") # an archive leaves what it needs to whoever links it
    foreach(name colamd amd suitesparseconfig ltdl gmp)
      find_library(GLPK_${name} ${name} REQUIRED)
      mark_as_advanced(GLPK_${name})
      set_property(TARGET GLPK::GLPK APPEND PROPERTY INTERFACE_LINK_LIBRARIES ${GLPK_${name}})
    endforeach()
  endif()
endif()
