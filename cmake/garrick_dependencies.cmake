# Third-party libraries: Debian 12 packages. The dependencies of each part are named in
# lib/<part>/CMakeLists.txt.
find_package(Threads REQUIRED)
find_package(Boost 1.75 REQUIRED)  # headers only: Asio

if(GARRICK_MINIMAL)
  set(GARRICK_LOGGING "")
  set(GARRICK_PARSERS "")
  set(GARRICK_HWLOC "")
else()
  find_package(fmt REQUIRED)
  find_package(spdlog REQUIRED)
  find_package(nlohmann_json REQUIRED)
  find_package(CLI11 REQUIRED)
  set(GARRICK_LOGGING spdlog::spdlog fmt::fmt)
  set(GARRICK_PARSERS nlohmann_json::nlohmann_json CLI11::CLI11)
  find_library(GARRICK_HWLOC_LIBRARY hwloc REQUIRED)
  mark_as_advanced(GARRICK_HWLOC_LIBRARY)
  set(GARRICK_HWLOC hwloc)
endif()

# garrick::gpu is built where OpenCL is: its headers and the loader of drivers.
option(GARRICK_GPU "Build garrick::gpu if OpenCL is found" ON)
set(GARRICK_OPENCL "")
if(GARRICK_GPU AND NOT GARRICK_MINIMAL AND NOT CMAKE_CROSSCOMPILING)
  find_package(OpenCL QUIET)
  if(OpenCL_FOUND)
    set(GARRICK_OPENCL OpenCL::OpenCL)
  endif()
endif()

if(GARRICK_EXAMPLES AND NOT GARRICK_MINIMAL)  # a layer of a user's own; no part needs it
  find_library(GARRICK_ZSTD_LIBRARY zstd REQUIRED)
  mark_as_advanced(GARRICK_ZSTD_LIBRARY)
  set(GARRICK_ZSTD zstd)
endif()
if(GARRICK_TESTS)
  find_package(doctest REQUIRED)
endif()
if(GARRICK_TESTS OR GARRICK_EXAMPLES OR GARRICK_LINT OR GARRICK_BENCH)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
endif()
