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
# For programs that take longer to compile than to run. The parts keep their options: it is they
# that are tested. Without optimising, GCC takes three quarters of the time of -O1; under a
# sanitizer clang optimises templates for twice as long as the rest takes. Under sanitizers, code of
# tests is not checked for null pointers, alignment and the types of objects, since those checks are
# half of its machine code, and AddressSanitizer sees most such errors where they do harm; and
# reports name the functions of tests without their lines. Each of the two saves a third of the
# time; parts have the checks and the lines. GCC without a sanitizer saves a tenth without lines:
# GARRICK_TEST_LINES=ON is for a debugger.
function(garrick_compile_quickly target)
  if(GARRICK_SANITIZE AND NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    return()
  endif()
  target_compile_options(${target} PRIVATE -O0)
  if(NOT GARRICK_TEST_LINES)
    target_compile_options(${target} PRIVATE -g0)
  endif()
  if(GARRICK_SANITIZE MATCHES undefined)
    target_compile_options(${target} PRIVATE -fno-sanitize=null,alignment,vptr)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)  # without functions for std::move and its like
    target_compile_options(${target} PRIVATE -ffold-simple-inlines)
  endif()
endfunction()

# garrick_compile_model(<target>)
#
# For models, which run for seconds. With -O1 they are compiled in half the time of -O2. The
# warnings that GCC 12 gives after it has optimised take strings of the standard library for
# errors at -O1; they are on wherever code is compiled with -O2.
function(garrick_compile_model target)
  target_compile_options(${target} PRIVATE -O1)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-maybe-uninitialized
                                             -Wno-restrict -Wno-stringop-overflow
                                             -Wno-stringop-overread)
  endif()
endfunction()

# The model checker's engine is compiled once for all models, since it takes as long to compile as
# five of them. It has the options of the parts: models spend most of their time in it.
function(garrick_model_engine)
  if(NOT TARGET garrick_model_engine)
    set(folder "${PROJECT_SOURCE_DIR}/lib/base/garrick/base/concurrency/internal")
    add_library(garrick_model_engine OBJECT "${folder}/relacy_engine.model.cpp")
    garrick_compile(garrick_model_engine)
    garrick_is_proof(garrick_model_engine)
    target_link_libraries(garrick_model_engine PRIVATE garrick_base)
  endif()
endfunction()

# garrick_precompile(<target> [LIKE other] <header>...)
#
# Gives a program precompiled headers, of which it should include most: for examples and benchmarks,
# which share no objects. LIKE: the headers of a program with the same options, which has them
# already. The options beside are for ccache.
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
# Gives a CTest entry its labels, a limit on its time and the sanitizers' settings. `./dev test`
# leaves out entries with one of two labels. `proof`: the entry says something of our sources, and
# nothing of the machine or of how they were compiled; `./dev test --all` runs it. `ci`: the entry
# is slow, and `.ci/run` runs it.
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
  # Ten seconds for a report of the stacks, before CTest kills a program that hangs.
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
# The way in which `./dev soak` makes a test longer: `seeds` (GARRICK_SEEDS, explorations),
# `torture` (GARRICK_TORTURE, torture tests and models) or `repeat` (it runs again and again).
function(garrick_soak test kind)
  set_property(TEST ${test} APPEND PROPERTY LABELS soak_${kind})
endfunction()

# garrick_soak_at_least(<test> <number>)
#
# This many seeds, or rounds of torture, are run in `./dev soak` even if the test's share of the
# time is shorter.
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
# Leaves in a list of tests those that name threads, an object that has some, or a helper that may
# have. In the others there is nothing to find for the thread sanitizer.
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

# garrick_is_proof(<target>): the program is built for proofs only; see garrick_test_properties.
function(garrick_is_proof target)
  set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  add_dependencies(garrick_proofs ${target})
endfunction()

# garrick_test_program(<target> PREFIX prefix LABEL label... [OPTIMISED] [BATCH number]
#                      SOURCES file... LIBRARIES target...)
#
# With GARRICK_UNITY, up to BATCH sources share an object, by default 8, if their code lies in a
# namespace <file>_test or <file>, so that no two of them have a name in common. Other sources have
# an object each. This is looked at when CMake configures. OPTIMISED: the program runs for so long
# that compiling it with -O1 pays.
function(garrick_test_program target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "OPTIMISED" "PREFIX;BATCH" "LABEL;SOURCES;LIBRARIES")
  garrick_test_main()
  set(compiled ${arg_SOURCES})
  if(GARRICK_UNITY)
    if(NOT arg_BATCH)
      set(arg_BATCH 8)
    endif()
    set(alone "")
    foreach(source IN LISTS arg_SOURCES)
      get_filename_component(stem "${source}" NAME)
      string(REPLACE ".test.cpp" "" stem "${stem}")
      file(STRINGS "${source}" own LIMIT_COUNT 1 REGEX "^namespace ${stem}(_test)? {$")
      if(NOT own)
        list(APPEND alone "${source}")
      endif()
    endforeach()
    garrick_batches(compiled FOR ${target} SIZE ${arg_BATCH} ALONE ${alone})
  endif()
  add_executable(${target} ${compiled} $<TARGET_OBJECTS:garrick_test_main>)
  garrick_compile(${target})
  if(proof IN_LIST arg_LABEL)
    garrick_is_proof(${target})
  endif()
  if(arg_OPTIMISED AND NOT GARRICK_SANITIZE)
    garrick_compile_model(${target})
  else()
    garrick_compile_quickly(${target})
  endif()
  if(GARRICK_UNITY)
    garrick_compile_batches(${target})
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

# garrick_places(<target> name=path...)
#
# Defines these of the paths that tests/support/places.hpp declares, for one program, in one call.
function(garrick_places target)
  set(content "#include \"support/places.hpp\"\n\nnamespace garrick::tests::places {\n")
  foreach(place IN LISTS ARGN)
    string(REGEX REPLACE "^([a-z_]+)=(.*)$" "const char* const \\1 = \"\\2\";" line "${place}")
    string(APPEND content "${line}\n")
  endforeach()
  string(APPEND content "}  // namespace garrick::tests::places\n")
  set(source "${CMAKE_CURRENT_BINARY_DIR}/places/${target}.cpp")
  file(GENERATE OUTPUT "${source}" CONTENT "${content}")
  target_sources(${target} PRIVATE "${source}")
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
