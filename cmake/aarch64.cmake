# Toolchain file of the preset arm: Debian's cross compiler for aarch64, with QEMU to run its
# programs. `./dev arm` unpacks the libraries that are machine code below build/arm-sysroot; those
# of headers only come from the machine itself (docs/decisions/0005-another-processor.md).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

set(garrick_sysroot "${CMAKE_CURRENT_LIST_DIR}/../build/arm-sysroot")
cmake_path(NORMAL_PATH garrick_sysroot)
set(garrick_libraries "${garrick_sysroot}/usr/lib/aarch64-linux-gnu")
set(CMAKE_FIND_ROOT_PATH "${garrick_sysroot}")
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_CXX_FLAGS_INIT
    "-isystem ${garrick_sysroot}/usr/include \
-isystem ${garrick_sysroot}/usr/include/aarch64-linux-gnu")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-L${garrick_libraries} -Wl,-rpath-link,${garrick_libraries}")

# -L: where the loader and the C library of aarch64 are
set(CMAKE_CROSSCOMPILING_EMULATOR
    "qemu-aarch64;-L;/usr/aarch64-linux-gnu;-E;LD_LIBRARY_PATH=${garrick_libraries}")
