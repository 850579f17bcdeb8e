// A process of the guarantee programs, with the standard stacks.
#include "net/guarantees/peer.hpp"

int main(int argc, char** argv) { return garrick::tests::run_guarantee_peer(argc, argv); }
