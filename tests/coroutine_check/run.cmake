# Checks planted.cpp, of which each line that says `// twice` must be found and no other, and
# clean.cpp, in which nothing must be. Called by CTest with
#   clang_query  the tool; without it the test says so and is skipped
#   script       check_coroutines.cmake
cmake_minimum_required(VERSION 3.25)
if(NOT clang_query)
  message("skipped: clang-query is missing; Debian has it in clang-tools-19")
  return()
endif()

function(check file)
  execute_process(COMMAND "${CMAKE_COMMAND}" -D "clang_query=${clang_query}"
                          -D "sources=${CMAKE_CURRENT_LIST_DIR}/${file}" -D options=-std=c++20
                          -P "${script}"
                  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  set(status "${status}" PARENT_SCOPE)
  set(output "${output}" PARENT_SCOPE)
endfunction()

check(clean.cpp)
if(NOT status EQUAL 0)
  message(SEND_ERROR "clean.cpp is clean, but:\n${output}")
endif()

check(planted.cpp)
if(status EQUAL 0)
  message(SEND_ERROR "nothing was found in planted.cpp:\n${output}")
endif()
file(READ "${CMAKE_CURRENT_LIST_DIR}/planted.cpp" text)
string(REPLACE ";" " " text "${text}")
string(REPLACE "\n" ";" lines "${text}")
set(number 0)
foreach(line IN LISTS lines)
  math(EXPR number "${number} + 1")
  string(FIND "${output}" "planted.cpp:${number}:" at)
  if(line MATCHES "// twice" AND at EQUAL -1)
    message(SEND_ERROR "line ${number} was not found:${line}\n${output}")
  elseif(NOT line MATCHES "// twice" AND NOT at EQUAL -1)
    message(SEND_ERROR "line ${number} was found, and is safe:${line}")
  endif()
endforeach()

# Without the tool it fails, and names it.
set(clang_query "")
check(clean.cpp)
if(status EQUAL 0 OR NOT output MATCHES "clang-query is missing")
  message(SEND_ERROR "without clang-query the check must fail and say so:\n${output}")
endif()
