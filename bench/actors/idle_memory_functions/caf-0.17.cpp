// CAF's side of idle_memory is function-based already.
#include "actors/idle_memory/caf-0.17.cpp"
