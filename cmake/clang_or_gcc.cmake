# Toolchain file of the sanitizer presets: clang 19 where it is installed, the default compiler
# otherwise.
find_program(GARRICK_CLANG NAMES clang++-19)
if(GARRICK_CLANG)
  set(CMAKE_CXX_COMPILER "${GARRICK_CLANG}")
else()
  set(CMAKE_CXX_COMPILER g++)
endif()
