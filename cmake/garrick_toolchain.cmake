# Compiler settings of the parts, the tests and the examples. Nothing here leaks into a project that
# uses the libraries.

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  set(CMAKE_CXX_EXTENSIONS OFF)
  find_program(GARRICK_CCACHE ccache)
  if(GARRICK_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # The cache does not look into a precompiled header, so it must be told that it may. It must
    # compare the headers as they are, not preprocessed: GCC knows a header that has been included
    # by its text, so a precompiled one from before a comment changed would be included twice. Paths
    # below the project's folder count from where the compiler runs, so that all clones on a machine
    # share their objects; an object's own folder is then the first clone's.
    set(CMAKE_CXX_COMPILER_LAUNCHER
        "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1
        "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${GARRICK_CCACHE}")
  endif()
  find_program(GARRICK_MOLD mold)
  if(GARRICK_MOLD AND NOT APPLE AND NOT CMAKE_CROSSCOMPILING)
    # mold keeps hot functions together only if told to.
    add_link_options(-fuse-ld=mold -Wl,-z,keep-text-section-prefix)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # GCC looks for garbage from 128 MB on, which is less than a precompiled header has. With half a
    # gigabyte a source of a test takes up to a tenth less time, and 100 MB more.
    add_compile_options("SHELL:--param ggc-min-heapsize=524288")
  endif()
  if(CMAKE_GENERATOR MATCHES Ninja)
    add_compile_options(-fdiagnostics-color=auto)
  endif()
endif()

set(GARRICK_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(GARRICK_WERROR)
  list(APPEND GARRICK_WARNINGS -Werror)
endif()

# Definitions and options that every translation unit must agree on, the user's included.
set(GARRICK_PUBLIC_DEFINITIONS "")
if(GARRICK_MINIMAL)
  list(APPEND GARRICK_PUBLIC_DEFINITIONS GARRICK_MINIMAL=1)
endif()

if(GARRICK_SANITIZE)
  set(sanitize -fsanitize=${GARRICK_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_compile_options(${sanitize})
  add_link_options(${sanitize})
  if(GARRICK_SANITIZE MATCHES thread)
    # ThreadSanitizer knows no free-standing fences: the atomics policy replaces them by
    # read-modify-writes.
    list(APPEND GARRICK_PUBLIC_DEFINITIONS GARRICK_TSAN=1)
  endif()
endif()
if(GARRICK_FUZZ AND NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
  message(STATUS "No fuzzers: libFuzzer is clang's, and the compiler is ${CMAKE_CXX_COMPILER_ID}")
  set(GARRICK_FUZZ OFF)
endif()
# Parts may go into a user's shared object, unless all programs are static anyway.
set(GARRICK_PIC ON)
if(GARRICK_MINIMAL AND PROJECT_IS_TOP_LEVEL)
  set(GARRICK_PIC OFF)
  add_compile_options(-fno-pie -ffunction-sections -fdata-sections)
  add_link_options(-static -no-pie -Wl,--gc-sections)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # Saves a sixth of a small program. The archives hold machine code as well, for users that link
    # without it.
    add_compile_options(-flto=auto -ffat-lto-objects)
    add_link_options(-flto=auto)
  endif()
endif()

# The settings of one target of ours.
function(garrick_compile target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_options(${target} PRIVATE ${GARRICK_WARNINGS})
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
endfunction()
