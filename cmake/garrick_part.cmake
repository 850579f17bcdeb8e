# garrick_part(<name> [NOT_INSTALLED] [PROOF] [ONE_THREAD regex] [ROOM folder] [WITHOUT regex]
#              [ALONE source...] [TESTED_WITH part...] [FUZZED_WITH part...] [DEPENDS part...]
#              [PUBLIC target...] [PRIVATE target...] [HEADER_ONLY target...])
#
# Builds the part in the current folder: the library garrick_<name> (alias garrick::<name>) from
# garrick/**/*.cpp, its tests from *.test.cpp and *.model.cpp, its fuzzers from *.fuzz.cpp, each
# with the folder *.fuzz beside it, if there is one, as its first inputs. A part without sources
# yet is an empty library.
#   PROOF        its tests say nothing of the machine that runs them: they are proofs, as models are
#   ONE_THREAD   tests, by their files' names, that run everything on one thread. The thread
#                sanitizer cannot find anything in them and takes ten times as long, so its build
#                leaves them out
#   ROOM         the part is this room of the current folder, such as garrick/net/testkit: a target
#                of its own beside the one that has the rest and says WITHOUT this room. It is
#                installed with that one's headers
#   ALONE        sources, by their paths from here, that share no object with others
#   TESTED_WITH  parts that only the tests need; they may depend on this one
#   FUZZED_WITH  parts that only the fuzzers need; as above
#   PUBLIC       libraries that the part's headers need
#   PRIVATE      libraries that only its sources need, linked into the final program
#   HEADER_ONLY  libraries that only its sources need and that leave nothing to link
function(garrick_part name)
  cmake_parse_arguments(PARSE_ARGV 1 part "NOT_INSTALLED;PROOF" "ONE_THREAD;ROOM;WITHOUT"
                        "ALONE;TESTED_WITH;FUZZED_WITH;DEPENDS;PUBLIC;PRIVATE;HEADER_ONLY")
  set(target garrick_${name})
  set(room garrick)
  if(part_ROOM)
    set(room "${part_ROOM}")
  endif()

  file(GLOB_RECURSE all CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${room}/*.cpp")
  file(GLOB_RECURSE headers RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}"
       CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${room}/*.hpp")
  if(part_WITHOUT)
    list(FILTER all EXCLUDE REGEX "/${part_WITHOUT}/")
    list(FILTER headers EXCLUDE REGEX "^${part_WITHOUT}/")
  endif()
  set(sources ${all})
  list(FILTER sources EXCLUDE REGEX "\\.(test|model|fuzz)\\.cpp$")
  if(NOT sources)
    set(sources "${CMAKE_CURRENT_BINARY_DIR}/empty.cpp")
    file(CONFIGURE OUTPUT "${sources}" CONTENT "// ${name} has headers only.\n")
  endif()

  if(GARRICK_UNITY)
    list(TRANSFORM part_ALONE PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
    garrick_batches(sources FOR ${target} SIZE 8 ALONE ${part_ALONE})
  endif()
  add_library(${target} STATIC ${sources})
  add_library(garrick::${name} ALIAS ${target})
  garrick_compile(${target})
  if(GARRICK_UNITY)
    garrick_compile_batches(${target})
  endif()
  garrick_is_fuzzed(${target})
  target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}>"
                             "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  if(name STREQUAL base)
    target_compile_definitions(${target} PUBLIC ${GARRICK_PUBLIC_DEFINITIONS})
    if(NOT GARRICK_PIC)  # then the archives' machine code has fixed addresses
      target_link_options(${target} INTERFACE
                          "$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>")
    endif()
  endif()
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name}
                        POSITION_INDEPENDENT_CODE ${GARRICK_PIC})
  foreach(other IN LISTS part_DEPENDS)
    target_link_libraries(${target} PUBLIC garrick_${other})
  endforeach()
  target_link_libraries(${target} PUBLIC ${part_PUBLIC} PRIVATE ${part_PRIVATE})
  foreach(library IN LISTS part_HEADER_ONLY)
    target_link_libraries(${target} PRIVATE "$<BUILD_INTERFACE:${library}>")
  endforeach()

  if(NOT part_NOT_INSTALLED)
    set_property(GLOBAL APPEND PROPERTY GARRICK_EXPORTED ${target})
    if(NOT part_ROOM)
      set_property(GLOBAL APPEND PROPERTY GARRICK_INSTALLED_PARTS ${name})
    endif()
  endif()
  set_property(GLOBAL APPEND PROPERTY GARRICK_PARTS ${name})
  set_property(GLOBAL APPEND PROPERTY GARRICK_HEADERS ${headers})

  if(GARRICK_TESTS)
    set(tested ${all})
    if(part_ONE_THREAD AND GARRICK_SANITIZE MATCHES thread)
      list(FILTER tested EXCLUDE REGEX "/(${part_ONE_THREAD})\\.test\\.cpp$")
    endif()
    if(GARRICK_SANITIZE)  # measurements and planted errors prove nothing there
      list(FILTER tested EXCLUDE REGEX "${GARRICK_PROOF_FILES}")
    endif()
    garrick_part_tests(${name} "${part_TESTED_WITH}" ${tested})
  endif()
  if(GARRICK_FUZZ)
    list(TRANSFORM part_FUZZED_WITH PREPEND garrick_)
    garrick_fuzzers(${name} "garrick_${name};${part_FUZZED_WITH}" ${all})
  endif()
endfunction()

# Tests that plant errors or measure in virtual time.
set(GARRICK_PROOF_FILES "/(reliability_figures|planted_[a-z_]+)\\.test\\.cpp$")

# Tests of one part, linked with the parts in `with`, too: <part>_tests from its *.test.cpp, except
# files that plant errors or measure in virtual time, which say nothing of the machine and become
# <part>_proof_tests; and a program for each *.model.cpp (a model checker replaces threads and
# memory, so it shares a program with nothing else and does not run under a sanitizer).
function(garrick_part_tests name with)
  list(TRANSFORM with PREPEND garrick_)
  set(tests ${ARGN})
  list(FILTER tests INCLUDE REGEX "\\.test\\.cpp$")
  if(GARRICK_SANITIZE MATCHES thread)
    garrick_with_threads(tests)
  endif()
  set(proofs ${tests})
  list(FILTER proofs INCLUDE REGEX "${GARRICK_PROOF_FILES}")
  list(FILTER tests EXCLUDE REGEX "${GARRICK_PROOF_FILES}")
  set(labels unit)
  if(part_PROOF)
    list(APPEND labels proof)
  endif()
  if(tests)
    garrick_test_program(${name}_tests PREFIX ${name} LABEL ${labels} SOURCES ${tests}
                         LIBRARIES garrick_${name} ${with})
  endif()
  if(proofs)
    garrick_test_program(${name}_proof_tests PREFIX ${name} LABEL unit proof SOURCES ${proofs}
                         LIBRARIES garrick_${name} ${with})
  endif()
  if(GARRICK_SANITIZE)
    return()
  endif()
  set(models ${ARGN})
  list(FILTER models INCLUDE REGEX "\\.model\\.cpp$")
  list(FILTER models EXCLUDE REGEX "/relacy_engine\\.model\\.cpp$")  # which all of them share
  foreach(model IN LISTS models)
    get_filename_component(stem "${model}" NAME)
    string(REPLACE ".model.cpp" "" stem "${stem}")
    garrick_test_program(${name}_${stem}_model OPTIMISED PREFIX ${name}.model LABEL model proof
                         SOURCES "${model}" LIBRARIES garrick_${name})
    garrick_model_engine()
    target_sources(${name}_${stem}_model PRIVATE $<TARGET_OBJECTS:garrick_model_engine>)
    # They take the longest, so they come first.
    set_tests_properties(${name}.model.${stem} PROPERTIES COST 100)
  endforeach()
endfunction()

# garrick_is_fuzzed(<target>): fuzzers see which of its branches they reach.
function(garrick_is_fuzzed target)
  if(GARRICK_FUZZ)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# Fuzzers fuzz_<name>_* from the *.fuzz.cpp among these files, linked with these libraries; built by
# the target garrick_fuzzers.
function(garrick_fuzzers name libraries)
  set(fuzzers ${ARGN})
  list(FILTER fuzzers INCLUDE REGEX "\\.fuzz\\.cpp$")
  if(NOT TARGET garrick_fuzzers)
    add_custom_target(garrick_fuzzers)
  endif()
  foreach(fuzzer IN LISTS fuzzers)
    get_filename_component(stem "${fuzzer}" NAME)
    string(REPLACE ".fuzz.cpp" "" stem "${stem}")
    add_executable(fuzz_${name}_${stem} EXCLUDE_FROM_ALL "${fuzzer}")
    garrick_compile(fuzz_${name}_${stem})
    garrick_is_fuzzed(fuzz_${name}_${stem})
    target_link_libraries(fuzz_${name}_${stem} PRIVATE ${libraries})
    target_link_options(fuzz_${name}_${stem} PRIVATE -fsanitize=fuzzer)
    set_target_properties(fuzz_${name}_${stem}
                          PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/fuzz")
    add_dependencies(garrick_fuzzers fuzz_${name}_${stem})
    # the first inputs of ./dev fuzz
    string(REGEX REPLACE "\\.cpp$" "" seeds "${fuzzer}")
    set(where "${CMAKE_BINARY_DIR}/fuzz/fuzz_${name}_${stem}.seeds")
    if(IS_DIRECTORY "${seeds}")
      file(CONFIGURE OUTPUT "${where}" CONTENT "${seeds}\n" @ONLY)
    else()
      file(REMOVE "${where}")
    endif()
  endforeach()
endfunction()
