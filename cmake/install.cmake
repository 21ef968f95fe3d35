# `cmake --install` puts the headers, the libraries, the program and a package for find_package(gauze) in place.
include(CMakePackageConfigHelpers)

get_property(modules GLOBAL PROPERTY GAUZE_MODULES)
list(TRANSFORM modules PREPEND gauze_ OUTPUT_VARIABLE targets)
list(APPEND targets gauze_duckdb gauze_pg_query)
install(FILES ${DUCKDB_LIBRARY} DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS ${targets} EXPORT gauze ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS gauze RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(EXPORT gauze NAMESPACE gauze:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/gauze FILE gauzeTargets.cmake)
foreach(module IN LISTS modules)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/gauze/${module} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gauze
          FILES_MATCHING PATTERN "*.h" PATTERN "*_internal.h" EXCLUDE)
endforeach()
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/gauzeConfig.cmake.in ${PROJECT_BINARY_DIR}/gauzeConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/gauze)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/gauzeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/gauzeConfig.cmake ${PROJECT_BINARY_DIR}/gauzeConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/gauze)
