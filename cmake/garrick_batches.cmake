# Batches: several sources to an object. Most of the time that a source takes to compile goes into
# its headers and into templates that it instantiates, and sources that lie side by side include and
# instantiate the same.
#
# CMake's own UNITY_BUILD names the sources by absolute paths, so that a compiler cache would keep
# an object for each folder that the project has been cloned to. Batches name them by paths below
# the project's folder.

# garrick_batches(<name of a list> FOR target SIZE number [ALONE source...])
#
# Replaces the sources in a list by files that include up to SIZE of them each. Sources in ALONE
# stay. The target needs garrick_compile_batches, which lets it find the included sources. Two
# sources of a batch must not give one name at namespace scope to two things, not even in unnamed
# namespaces.
function(garrick_batches name_of_list)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FOR;SIZE" "ALONE")
  set(batched ${${name_of_list}})
  set(result "")
  foreach(source IN LISTS arg_ALONE)
    if(source IN_LIST batched)
      list(APPEND result "${source}")
    endif()
  endforeach()
  if(result)
    list(REMOVE_ITEM batched ${result})
  endif()
  list(SORT batched)
  list(LENGTH batched sources)
  if(sources EQUAL 0)
    return()
  endif()
  # The batches are of the same size, more or less.
  math(EXPR batches "(${sources} + ${arg_SIZE} - 1) / ${arg_SIZE}")
  foreach(number RANGE 1 ${batches})
    math(EXPR first "${sources} * (${number} - 1) / ${batches}")
    math(EXPR size "${sources} * ${number} / ${batches} - ${first}")
    list(SUBLIST batched ${first} ${size} included)
    set(content "")
    foreach(source IN LISTS included)
      file(RELATIVE_PATH path "${PROJECT_SOURCE_DIR}" "${source}")
      string(APPEND content "#include \"${path}\"\n")
    endforeach()
    set(batch "${CMAKE_CURRENT_BINARY_DIR}/batches/${arg_FOR}_${number}.cpp")
    file(CONFIGURE OUTPUT "${batch}" CONTENT "${content}" @ONLY)
    list(APPEND result "${batch}")
  endforeach()
  set(${name_of_list} ${result} PARENT_SCOPE)
endfunction()

# garrick_compile_batches(<target>): lets a target compile the files of garrick_batches.
function(garrick_compile_batches target)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
  # To GCC an included source is a header, and it warns of a header's classes that have members of
  # types from unnamed namespaces.
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()
