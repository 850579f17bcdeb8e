target_link_libraries(${program} PRIVATE bench_simulator)
