# Installs the parts so that find_package(garrick) finds them: garrick::garrick, garrick::testkit
# and one target a part. Headers under internal/ and test files stay behind; headers under detail/
# are installed because templates need them.
include(CMakePackageConfigHelpers)
get_property(exported GLOBAL PROPERTY GARRICK_EXPORTED)
get_property(parts GLOBAL PROPERTY GARRICK_INSTALLED_PARTS)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/garrick")

install(TARGETS ${exported} EXPORT garrick ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
foreach(part IN LISTS parts)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/lib/${part}/garrick"
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
          FILES_MATCHING PATTERN "*.hpp" PATTERN "internal" EXCLUDE)
endforeach()
install(EXPORT garrick NAMESPACE garrick:: DESTINATION "${package_dir}" FILE garrick-targets.cmake)
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/garrick-config.cmake.in"
                              "${PROJECT_BINARY_DIR}/garrick-config.cmake"
                              INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/garrick-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/garrick-config.cmake"
        "${PROJECT_BINARY_DIR}/garrick-config-version.cmake" DESTINATION "${package_dir}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
