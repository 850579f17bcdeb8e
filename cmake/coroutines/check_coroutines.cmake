# Runs coroutines.query over sources, and fails if it finds anything. A script, for `cmake -P`, with
#   clang_query  the tool, or something false
#   sources      files, separated by commas
#   build        the folder of compile_commands.json; or else
#   options      how to compile all of them, separated by commas
cmake_minimum_required(VERSION 3.25)
if(NOT clang_query)
  message(FATAL_ERROR "garrick_check_coroutines: clang-query is missing. Debian has it in "
                      "clang-tools-19; then configure again, or set GARRICK_CLANG_QUERY.")
endif()
if(build AND NOT EXISTS "${build}/compile_commands.json")
  message(FATAL_ERROR "garrick_check_coroutines: ${build}/compile_commands.json is missing. The "
                      "generators Ninja and Unix Makefiles write it.")
endif()
string(REPLACE "," ";" sources "${sources}")
string(REPLACE "," ";" options "${options}")
if(build)
  set(how -p "${build}" --extra-arg=-w)
else()
  set(after -- ${options} -w)
endif()

set(found "")
foreach(source IN LISTS sources)
  execute_process(COMMAND "${clang_query}" ${how} -f "${CMAKE_CURRENT_LIST_DIR}/coroutines.query"
                          "${source}" ${after}
                  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  # clang-query ends with 0 in any case; it counts matches if it could read all.
  if(NOT status EQUAL 0 OR output MATCHES "error: " OR NOT output MATCHES "[0-9]+ match(es)?\\.")
    message(FATAL_ERROR "garrick_check_coroutines: clang cannot read ${source}:\n${output}")
  endif()
  string(REGEX MATCHALL "[^\n]+: note: \"destroyed twice\" binds here" places "${output}")
  list(APPEND found ${places})
endforeach()
list(REMOVE_DUPLICATES found)  # templates, and headers of several sources
foreach(place IN LISTS found)
  string(REGEX REPLACE ": note: .*" "" place "${place}")
  message("${place}: GCC 12 destroys this twice, since its statement has a co_await: build it in a "
          "statement of its own, and move it")
endforeach()
if(found)
  list(LENGTH found count)
  message(FATAL_ERROR "garrick_check_coroutines: ${count} found; the guide's chapter 6 has the "
                      "forms that are safe")
endif()
