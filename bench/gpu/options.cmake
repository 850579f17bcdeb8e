# Pictures are compared pixel by pixel, so no side contracts multiplications and additions.
target_compile_options(${program} PRIVATE -ffp-contract=off)
if(system MATCHES "^garrick")
  target_link_libraries(${program} PRIVATE garrick::gpu ${GARRICK_OPENCL})
endif()
