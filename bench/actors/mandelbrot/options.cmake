# The picture's hash must not depend on whether the compiler fuses multiplications and additions.
target_compile_options(${program} PRIVATE -ffp-contract=off)
