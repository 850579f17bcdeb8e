# Installs the parts so that find_package(garrick) finds them: garrick::garrick, garrick::testkit
# and one target a part. Headers under internal/ and test files stay behind; headers under detail/
# are installed because templates need them.
include(CMakePackageConfigHelpers)
get_property(exported GLOBAL PROPERTY GARRICK_EXPORTED)
get_property(parts GLOBAL PROPERTY GARRICK_INSTALLED_PARTS)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/garrick")

# A build of one program only, such as the demo, can be installed, too: missing parts are built
# first.
set(built "")
set(archives "")
foreach(target IN LISTS exported)
  get_target_property(kind ${target} TYPE)
  if(NOT kind STREQUAL INTERFACE_LIBRARY)
    list(APPEND built ${target})
    list(APPEND archives "$<TARGET_FILE:${target}>")
  endif()
endforeach()
install(CODE "set(archives \"${archives}\")
foreach(archive IN LISTS archives)
  if(NOT EXISTS \"\${archive}\")
    execute_process(COMMAND \"${CMAKE_COMMAND}\" --build \"${PROJECT_BINARY_DIR}\"
                            --config $<CONFIG> --target ${built} COMMAND_ERROR_IS_FATAL ANY)
    break()
  endif()
endforeach()")

install(TARGETS ${exported} EXPORT garrick ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
foreach(part IN LISTS parts)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/lib/${part}/garrick"
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
          FILES_MATCHING PATTERN "*.hpp" PATTERN "internal" EXCLUDE PATTERN "corpora" EXCLUDE
          PATTERN "*.fuzz" EXCLUDE
          REGEX "/node/(link|proxy)$" EXCLUDE)  # rooms without a public header
endforeach()
install(EXPORT garrick NAMESPACE garrick:: DESTINATION "${package_dir}" FILE garrick-targets.cmake)
# For a user's build: see garrick_check_coroutines.cmake.
set(GARRICK_DATA_DIR "${CMAKE_INSTALL_DATADIR}/garrick")
install(FILES "${PROJECT_SOURCE_DIR}/cmake/coroutines/coroutines.query"
        "${PROJECT_SOURCE_DIR}/cmake/coroutines/check_coroutines.cmake"
        DESTINATION "${GARRICK_DATA_DIR}")
install(FILES "${PROJECT_SOURCE_DIR}/cmake/garrick_check_coroutines.cmake"
        DESTINATION "${package_dir}")
list(TRANSFORM exported REPLACE "^garrick_" "" OUTPUT_VARIABLE GARRICK_COMPONENTS)
list(JOIN GARRICK_COMPONENTS ", " GARRICK_COMPONENTS)
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/garrick-config.cmake.in"
                              "${PROJECT_BINARY_DIR}/garrick-config.cmake"
                              INSTALL_DESTINATION "${package_dir}" PATH_VARS GARRICK_DATA_DIR)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/garrick-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/garrick-config.cmake"
        "${PROJECT_BINARY_DIR}/garrick-config-version.cmake" DESTINATION "${package_dir}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}")
# The guide, and the examples that it shows, side by side as in the repository.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/guide"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}/docs" FILES_MATCHING PATTERN "*.md")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/pictures"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}/docs" FILES_MATCHING PATTERN "*.svg")
install(FILES "${PROJECT_SOURCE_DIR}/docs/glossary.md" "${PROJECT_SOURCE_DIR}/docs/papers.md"
        "${PROJECT_SOURCE_DIR}/docs/portability.md" "${PROJECT_SOURCE_DIR}/docs/wire.md"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}/docs")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
        FILES_MATCHING PATTERN "*.cpp" PATTERN "*.hpp" PATTERN "*.md" PATTERN "*.test.cpp" EXCLUDE
        PATTERN "*.fuzz.cpp" EXCLUDE PATTERN "*.fuzz" EXCLUDE
        PATTERN "texts" EXCLUDE)
