// An example as it is, which a user of streams would compile.
#include "../../../examples/patterns/34_pipeline.cpp"
