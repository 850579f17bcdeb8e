// What a user of streams compiles: an example as it is.
#include "../../../examples/patterns/53_windows.cpp"
