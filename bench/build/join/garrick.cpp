// An example as it is, which a user of streams would compile.
#include "../../../examples/patterns/54_join.cpp"
