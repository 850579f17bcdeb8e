// What a user of streams compiles: an example as it is.
#include "../../../examples/patterns/54_join.cpp"
