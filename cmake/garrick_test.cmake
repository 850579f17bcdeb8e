# Test programs. Each test file is its own CTest entry, so that a failure names the file and files
# run side by side.

# The test framework's main takes seconds to compile: it is compiled once.
function(garrick_test_main)
  if(NOT TARGET garrick_test_main)
    add_library(garrick_test_main OBJECT
                "${PROJECT_SOURCE_DIR}/tests/support/test_main.cpp"
                "${PROJECT_SOURCE_DIR}/tests/support/stacks_when_stuck.cpp")
    target_include_directories(garrick_test_main PRIVATE "${PROJECT_SOURCE_DIR}/tests")
    target_compile_features(garrick_test_main PUBLIC cxx_std_20)
    target_link_libraries(garrick_test_main PUBLIC doctest::doctest)
  endif()
endfunction()

# garrick_compile_quickly(<target>)
#
# For programs whose compilation takes longer than their run. The parts keep their options: it is
# they that are tested. GCC compiles tests with -O1 in four fifths of the time of -O2, and models in
# half; under a sanitizer clang optimises templates for twice as long as the rest takes. Code of
# tests is not checked for null pointers, alignment and the types of objects. Those checks are half
# of its machine code, and AddressSanitizer sees most such errors where they do harm. Nor do its
# reports have the lines of tests, only the functions. Both save a third of the time, and the parts
# keep both. The warnings that GCC 12 gives after it has optimised take strings of the standard
# library for errors at -O1; they are on wherever code is compiled with -O2.
function(garrick_compile_quickly target)
  if(GARRICK_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
    target_compile_options(${target} PRIVATE -O0 -g0)
    if(GARRICK_SANITIZE MATCHES undefined)
      target_compile_options(${target} PRIVATE -fno-sanitize=null,alignment,vptr)
    endif()
  elseif(NOT GARRICK_SANITIZE)
    target_compile_options(${target} PRIVATE -O1)
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-maybe-uninitialized
                                               -Wno-restrict -Wno-stringop-overflow
                                               -Wno-stringop-overread)
    endif()
  endif()
endfunction()

# garrick_precompile(<target> [LIKE other] <header>...)
#
# Gives a program the headers of which it includes most precompiled: of a test that saves a fifth of
# the time, and a third under a sanitizer. LIKE: those of a program with the same options, which has
# them already. The options beside are for ccache.
function(garrick_precompile target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LIKE" "")
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    target_compile_options(${target} PRIVATE -Xclang -fno-pch-timestamp)
  else()
    target_compile_options(${target} PRIVATE -fpch-preprocess)
  endif()
  if(arg_LIKE)
    target_precompile_headers(${target} REUSE_FROM ${arg_LIKE})
  else()
    target_precompile_headers(${target} PRIVATE ${arg_UNPARSED_ARGUMENTS})
  endif()
endfunction()

# garrick_test_properties(<test> LABEL label... [TIMEOUT seconds])
#
# What all CTest entries have in common: labels, a limit on time and the sanitizers' settings. The
# label `ci` means: too slow for `./dev test`, `.ci/run` runs it.
function(garrick_test_properties test)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "LABEL")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT ${GARRICK_TEST_TIMEOUT})
  endif()
  find_program(GARRICK_SYMBOLIZER NAMES llvm-symbolizer-19 llvm-symbolizer)
  set(asan detect_leaks=1 strict_string_checks=1 detect_stack_use_after_return=1
      check_initialization_order=1 strict_init_order=1)
  list(JOIN asan ":" asan)
  set(environment
      "ASAN_OPTIONS=${asan}"
      "UBSAN_OPTIONS=print_stacktrace=1"
      "TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1")
  if(GARRICK_SYMBOLIZER)
    list(APPEND environment "ASAN_SYMBOLIZER_PATH=${GARRICK_SYMBOLIZER}"
         "TSAN_SYMBOLIZER_PATH=${GARRICK_SYMBOLIZER}")
  endif()
  # Ten seconds for a report of the stacks, before CTest kills what hangs.
  math(EXPR alarm "${arg_TIMEOUT} - 10")
  list(APPEND environment "TEST_ALARM=${alarm}")
  if(GARRICK_SANITIZE)
    # A sanitizer looks at memory and threads; the orders are explored without one.
    list(APPEND environment "GARRICK_SEEDS=20")
  endif()
  set_tests_properties(${test} PROPERTIES LABELS "${arg_LABEL}" TIMEOUT ${arg_TIMEOUT}
                       ENVIRONMENT "${environment}")
endfunction()

# garrick_soak(<test> <kind>)
#
# What `./dev soak` makes longer in a test: `seeds` (GARRICK_SEEDS, explorations), `torture`
# (GARRICK_TORTURE, torture tests and models) or `repeat` (it runs again and again).
function(garrick_soak test kind)
  set_property(TEST ${test} APPEND PROPERTY LABELS soak_${kind})
endfunction()

# garrick_soak_at_least(<test> <number>)
#
# So many seeds, or rounds of torture, are run in `./dev soak` even if the test's share of the time
# is shorter.
function(garrick_soak_at_least test number)
  set_property(TEST ${test} APPEND PROPERTY LABELS soak_at_least_${number})
endfunction()

# garrick_soak_of_source(<test> <source>): the kind that the calls in a test's source show.
function(garrick_soak_of_source test source)
  file(STRINGS "${source}" explores REGEX "explore[a-z_]*\\(|[^a-z_]seeds\\(|killed_and_stopped"
       LIMIT_COUNT 1)
  file(STRINGS "${source}" has_rounds REGEX "[^a-z_]rounds\\(" LIMIT_COUNT 1)
  if(source MATCHES "\\.model\\.cpp$" OR has_rounds)
    garrick_soak(${test} torture)
  elseif(explores)
    garrick_soak(${test} seeds)
  else()
    garrick_soak(${test} repeat)
  endif()
endfunction()

# garrick_with_threads(<name of a list>)
#
# Leaves in a list of tests those that name threads, what has some, or a helper that may have. In
# the others there is nothing to find for the thread sanitizer.
function(garrick_with_threads name_of_list)
  set(kept "")
  foreach(test IN LISTS ${name_of_list})
    file(STRINGS "${test}" signs LIMIT_COUNT 1
         REGEX "thread|actor_system|scoped_actor|async|#include [<\"](support|patterns|gpu)/")
    if(signs)
      list(APPEND kept "${test}")
    endif()
  endforeach()
  set(${name_of_list} ${kept} PARENT_SCOPE)
endfunction()

# garrick_test_program(<target> PREFIX prefix LABEL label SOURCES file... LIBRARIES target...)
function(garrick_test_program target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PREFIX;LABEL" "SOURCES;LIBRARIES")
  garrick_test_main()
  add_executable(${target} ${arg_SOURCES} $<TARGET_OBJECTS:garrick_test_main>)
  garrick_compile(${target})
  garrick_compile_quickly(${target})
  list(LENGTH arg_SOURCES sources)
  if(garrick::testkit IN_LIST arg_LIBRARIES)
    garrick_precompile(${target} <doctest/doctest.h> <garrick/garrick.hpp>
                       <garrick/patterns/patterns.hpp>)
  elseif(garrick::net_node IN_LIST arg_LIBRARIES)
    garrick_precompile(${target} <doctest/doctest.h> <garrick/garrick.hpp>
                       <garrick/net/node/node.hpp>)
  elseif(sources GREATER 4 AND arg_LIBRARIES MATCHES "garrick(::|_)net")
    # No more than most of them include: the tests have names of their own.
    garrick_precompile(${target} <doctest/doctest.h> <garrick/net/wire/codec.hpp>)
  endif()
  target_link_libraries(${target} PRIVATE ${arg_LIBRARIES} doctest::doctest)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests")  # "support/x.hpp"
  if(CMAKE_CROSSCOMPILING_EMULATOR)
    target_compile_definitions(${target} PRIVATE GARRICK_EMULATED=1)
  endif()
  foreach(source IN LISTS arg_SOURCES)
    get_filename_component(file "${source}" NAME)
    string(REGEX REPLACE "\\.(test|model)\\.cpp$" "" stem "${file}")
    set(test ${arg_PREFIX}.${stem})
    get_filename_component(folder "${source}" DIRECTORY)
    get_filename_component(folder "${folder}" NAME)
    add_test(NAME ${test} COMMAND ${target} "--source-file=*/${folder}/${file}" --no-version
             --no-colors=true)
    garrick_test_properties(${test} LABEL ${arg_LABEL})
    garrick_soak_of_source(${test} "${source}")
    # A filter that matches nothing must not look like success.
    set_tests_properties(${test} PROPERTIES FAIL_REGULAR_EXPRESSION "test cases: +0 \\|")
  endforeach()
endfunction()

# garrick_install_tests(way...): tests/install/run.cmake, each way a test.
function(garrick_install_tests)
  foreach(way IN LISTS ARGN)
    add_test(NAME install.${way}
             COMMAND "${CMAKE_COMMAND}" -D way=${way} -D source=${PROJECT_SOURCE_DIR}
                     -D build=${CMAKE_BINARY_DIR} -D compiler=${CMAKE_CXX_COMPILER}
                     -D generator=${CMAKE_GENERATOR}
                     -P "${PROJECT_SOURCE_DIR}/tests/install/run.cmake")
    garrick_test_properties(install.${way} LABEL install ci TIMEOUT 600)
    set_tests_properties(install.${way} PROPERTIES RESOURCE_LOCK build_tool)
  endforeach()
endfunction()
