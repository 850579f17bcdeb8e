target_link_libraries(${program} PRIVATE garrick::machine)
