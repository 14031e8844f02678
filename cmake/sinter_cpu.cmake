# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The target sinter::cpu, made the same way in this build and in a project that found the installed package, because xsimd is
# looked for on the machine that compiles and not on the one that packaged.

# Order: a target that the surrounding project made, a folder named by SINTER_XSIMD_INCLUDE_DIR, xsimd's own package, and the
# header alone. An argument GLOBAL makes the targets visible in every folder of the build. Only the include path is taken: a package file of xsimd may add flags (-march) that are the user's choice.
function(sinter_add_cpu_target)
  if(TARGET sinter::cpu)
    return()
  endif()
  set(from_target "")
  if(NOT SINTER_XSIMD_INCLUDE_DIR)
    if(NOT TARGET xsimd AND NOT TARGET xsimd::xsimd)
      find_package(xsimd QUIET)
    endif()
    foreach(candidate xsimd xsimd::xsimd)
      if(TARGET ${candidate} AND NOT from_target)
        get_target_property(from_target ${candidate} INTERFACE_INCLUDE_DIRECTORIES)
      endif()
    endforeach()
  endif()
  if(NOT from_target)
    find_path(SINTER_XSIMD_INCLUDE_DIR xsimd/xsimd.hpp DOC "Folder that holds xsimd/xsimd.hpp")
  endif()
  if(NOT from_target AND NOT SINTER_XSIMD_INCLUDE_DIR)
    return()
  endif()
  # Imported, so that warnings in xsimd's headers are not the user's.
  add_library(sinter::xsimd INTERFACE IMPORTED ${ARGN})
  if(from_target)
    set_target_properties(sinter::xsimd PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${from_target}")
  else()
    set_target_properties(sinter::xsimd PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${SINTER_XSIMD_INCLUDE_DIR}")
  endif()
  add_library(sinter::cpu INTERFACE IMPORTED ${ARGN})
  set_target_properties(sinter::cpu PROPERTIES INTERFACE_LINK_LIBRARIES "sinter::sinter;sinter::xsimd")
endfunction()
