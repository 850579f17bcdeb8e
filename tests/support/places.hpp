// The paths of the programs and folders that tests need. CMake's garrick_places defines the paths
// of one test program in a source of their own. So no other object depends on the folder that the
// project was cloned to, and a compiler cache serves all clones. Without its definition a path that
// a program uses is an error of the linker.
#pragma once

namespace garrick::tests::places {

/// The project's folder.
extern const char* const source_tree;
/// Python, and the reader of captures written from docs/wire.md alone.
extern const char* const python;
extern const char* const wire_decoder;
/// Other processes of tests of nodes; the last three are builds of one program.
extern const char* const node_peer;
extern const char* const node_peer_older;
extern const char* const node_peer_newer;
extern const char* const node_peer_changed;
/// Both ends of a link, and the cable between.
extern const char* const guarantee_peer;
extern const char* const lossy_link;
/// A layer before OpenCL's driver.
extern const char* const opencl_layer;
/// A library to load at run time.
extern const char* const post_office;
/// The demonstration, and the texts that it counts.
extern const char* const word_count;
extern const char* const texts;

}  // namespace garrick::tests::places
