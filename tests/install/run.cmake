# Installs Garrick below the build folder, builds the project beside this file against it and runs
# it. Called by CTest with
#   way        installed | subdirectory
#   source     Garrick's sources      build  Garrick's build folder
#   compiler, generator  those of the build
cmake_minimum_required(VERSION 3.25)
set(place "${build}/install_test/${way}")
file(REMOVE_RECURSE "${place}")

function(step what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output
                  ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${what} failed (${status}):\n${output}")
  endif()
endfunction()

set(arguments -G "${generator}" "-DCMAKE_CXX_COMPILER=${compiler}" -DCMAKE_BUILD_TYPE=Release)
if(way STREQUAL installed)
  # As if only one program had been built, such as the demo: the library that nothing there needs is
  # missing, and the installation builds it.
  file(GLOB_RECURSE testkit "${build}/lib/testkit/*garrick_testkit*.a")
  if(NOT testkit)
    message(FATAL_ERROR "there is no archive of the testkit below ${build}/lib/testkit")
  endif()
  file(REMOVE ${testkit})
  step("the installation" "${CMAKE_COMMAND}" --install "${build}" --prefix "${place}/prefix")
  if(NOT EXISTS "${testkit}")
    message(FATAL_ERROR "the installation has not built ${testkit}")
  endif()
  file(GLOB_RECURSE installed RELATIVE "${place}/prefix" "${place}/prefix/*")
  foreach(file IN LISTS installed)
    if(file MATCHES "^include/.*(/internal/|\\.cpp$)|\\.(test|fuzz)\\.")
      message(FATAL_ERROR "${file} must not be installed")
    endif()
  endforeach()
  file(GLOB_RECURSE folders LIST_DIRECTORIES true "${place}/prefix/include/*")
  foreach(folder IN LISTS folders)
    file(GLOB content "${folder}/*")
    if(IS_DIRECTORY "${folder}" AND NOT content)
      message(FATAL_ERROR "${folder} is empty")
    endif()
  endforeach()
  foreach(file include/garrick/garrick.hpp share/doc/garrick/docs/guide/01-first-actor.md
               share/doc/garrick/docs/wire.md share/doc/garrick/examples/core/01_hello.cpp
               share/doc/garrick/CHANGELOG.md share/garrick/coroutines.query)
    if(NOT file IN_LIST installed)
      message(FATAL_ERROR "${file} was not installed; there are: ${installed}")
    endif()
  endforeach()
  foreach(page IN LISTS installed)
    if(NOT page MATCHES "^share/doc/.*\\.md$")
      continue()
    endif()
    file(READ "${place}/prefix/${page}" text)
    cmake_path(GET page PARENT_PATH folder)
    string(REPLACE "](" "<link " text "${text}")  # brackets and semicolons would disturb the list
    string(REGEX REPLACE "[][;]" " " text "${text}")
    string(REGEX MATCHALL "<link [a-zA-Z0-9_./-]+\\.(md|hpp|cpp|svg)[)#]" links "${text}")
    foreach(link IN LISTS links)
      string(REGEX REPLACE "^<link |.$" "" link "${link}")
      if(NOT EXISTS "${place}/prefix/${folder}/${link}")
        message(FATAL_ERROR "${page} has a link to ${link}, which is not installed")
      endif()
    endforeach()
  endforeach()
  list(APPEND arguments "-DCMAKE_PREFIX_PATH=${place}/prefix")
else()
  find_program(ccache ccache)
  if(ccache)
    list(APPEND arguments "-DCMAKE_CXX_COMPILER_LAUNCHER=${ccache}")
  endif()
  # The parts are known to compile with optimisation, which takes a minute.
  list(APPEND arguments "-DGARRICK_SOURCE=${source}" "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG"
       -DGARRICK_UNITY=ON)
endif()

step("configuring the consumer" "${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}"
     -B "${place}/consumer" ${arguments})
set(programs consumer consumer_of_node consumer_of_testkit consumer_of_net consumer_of_broker)
set(targets all)
if(way STREQUAL subdirectory)
  set(programs consumer consumer_of_node)  # the others find their targets as these do
  set(targets ${programs})
endif()
step("building the consumer" "${CMAKE_COMMAND}" --build "${place}/consumer" --parallel
     --target ${targets})
if(way STREQUAL installed)
  # Its own memory is checked then, and Garrick's archives are used as they are.
  step("configuring the consumer with AddressSanitizer" "${CMAKE_COMMAND}"
       -S "${CMAKE_CURRENT_LIST_DIR}" -B "${place}/checked" ${arguments}
       -DCMAKE_CXX_FLAGS=-fsanitize=address)
  step("building the consumer with AddressSanitizer" "${CMAKE_COMMAND}" --build "${place}/checked"
       --target consumer)
  step("running the consumer with AddressSanitizer" "${place}/checked/consumer")
endif()
find_program(clang_query NAMES clang-query-19 clang-query)
if(clang_query)
  step("checking the consumer's coroutines" "${CMAKE_COMMAND}" --build "${place}/consumer"
       --target check_coroutines)
else()
  message(STATUS "clang-query is missing (Debian has it in clang-tools-19): the consumer's "
                 "coroutines were not checked")
endif()
if(EXISTS "${place}/consumer/consumer_of_gpu")
  step("running the consumer of the devices" "${place}/consumer/consumer_of_gpu")
endif()
foreach(program IN LISTS programs)
  step("running ${program}" "${place}/consumer/${program}")
  # A program that does not link garrick::gpu needs no OpenCL.
  execute_process(COMMAND ldd "${place}/consumer/${program}" OUTPUT_VARIABLE needed
                  ERROR_VARIABLE needed)
  if(needed MATCHES "OpenCL")
    message(FATAL_ERROR "${program} needs OpenCL:\n${needed}")
  endif()
endforeach()
message(STATUS "${way}: installed, built and run in ${place}")
