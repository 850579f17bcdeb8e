# Toolchain file of the sanitizer presets: the compiler that the caller names
# (-DCMAKE_CXX_COMPILER=g++), else clang 19 where it is installed, the default compiler otherwise.
if(NOT DEFINED CACHE{CMAKE_CXX_COMPILER} AND NOT CMAKE_CXX_COMPILER)
  find_program(GARRICK_CLANG NAMES clang++-19)
  if(GARRICK_CLANG)
    set(CMAKE_CXX_COMPILER "${GARRICK_CLANG}")
  else()
    set(CMAKE_CXX_COMPILER g++)
  endif()
endif()
