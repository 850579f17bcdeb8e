// The types known to both the program and the library that it loads.
#pragma once

#include <garrick/garrick.hpp>

#include <string>

namespace post {

struct parcel {
  std::string to;
  int weight;
};
using weigh = garrick::atom<"weigh">;
using office = garrick::protocol<std::string(parcel), int(weigh)>;

/// The library's exports, by these names.
extern "C" {
using make_office = void(garrick::actor_system&, garrick::ref<office>&);
using type_of_parcel = const garrick::base::message_type*();
}

}  // namespace post
