// The measure of the others: two actors.
#include "../hello/garrick.cpp"
