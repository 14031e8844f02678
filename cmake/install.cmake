# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Install rules and the package files that find_package(sinter) reads.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_DATADIR}/cmake/sinter")   # headers only: nothing depends on the architecture

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(TARGETS sinter sinter_cpu sinter_cuda EXPORT sinter_targets)
install(EXPORT sinter_targets NAMESPACE sinter:: FILE sinter-targets.cmake DESTINATION "${package_dir}")

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/sinter-config.cmake.in"
                              "${PROJECT_BINARY_DIR}/sinter-config.cmake" INSTALL_DESTINATION "${package_dir}")
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/sinter-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES "${PROJECT_BINARY_DIR}/sinter-config.cmake" "${PROJECT_BINARY_DIR}/sinter-config-version.cmake"
        DESTINATION "${package_dir}")
