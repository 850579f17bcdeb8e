# GCC 12 destroys some temporaries twice that are built beside a co_await, which no function can see
# from inside. garrick_check_coroutines finds them in a target's sources, with clang-query.

# Adds the target check_coroutines_<target>, which fails and says where if anything is found, and a
# target check_coroutines for all of them. Nothing is checked before one of these is built. Needs
# clang-query when it runs, and a generator that writes compile_commands.json.
function(garrick_check_coroutines target)
  get_property(scripts GLOBAL PROPERTY GARRICK_COROUTINES)
  find_program(GARRICK_CLANG_QUERY NAMES clang-query-19 clang-query
               DOC "clang-query, for garrick_check_coroutines")
  set_target_properties(${target} PROPERTIES EXPORT_COMPILE_COMMANDS ON)
  get_target_property(folder ${target} SOURCE_DIR)
  get_target_property(listed ${target} SOURCES)
  set(sources "")
  foreach(source IN LISTS listed)
    if(source MATCHES "\\.(cpp|cc|cxx|c\\+\\+|C)$")
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${folder}" NORMALIZE)
      list(APPEND sources "${source}")
    endif()
  endforeach()
  list(JOIN sources "," sources)
  add_custom_target(
    check_coroutines_${target}
    COMMAND "${CMAKE_COMMAND}" -D "clang_query=${GARRICK_CLANG_QUERY}" -D "sources=${sources}"
            -D "build=${CMAKE_BINARY_DIR}" -P "${scripts}/check_coroutines.cmake"
    COMMENT "Looking for what GCC 12 would destroy twice in ${target}" VERBATIM)
  if(NOT TARGET check_coroutines)
    add_custom_target(check_coroutines)
  endif()
  add_dependencies(check_coroutines check_coroutines_${target})
endfunction()
