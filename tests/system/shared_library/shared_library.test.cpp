// Message identity across a library that is loaded at run time. The rule for it is in
// base/types/message_type.hpp.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include "parcel.hpp"
#include "support/places.hpp"

namespace shared_library_test {

using namespace garrick;

namespace {

class loaded {
 public:
  loaded() : library_(dlopen(garrick::tests::places::post_office, RTLD_NOW | RTLD_LOCAL)) {
    const char* const why = library_ == nullptr ? dlerror() : "";
    INFO(std::string(why));
    REQUIRE(library_ != nullptr);
  }
  template <class F>
  F* get(const char* name) const {
    void* const found = dlsym(library_, name);
    REQUIRE(found != nullptr);
    return reinterpret_cast<F*>(found);
  }

 private:
  void* library_;  // stays: its actors' code is there
};

}  // namespace

TEST_CASE("shared library: a message type is the same on both sides") {
  const loaded library;
  CHECK(library.get<post::type_of_parcel>("post_type_of_parcel")() ==
        &base::message_type_of<post::parcel>);
}

TEST_CASE("shared library: actors of the program and of the library talk, typed and dynamically") {
  const loaded library;
  actor_system system;
  ref<post::office> office;
  library.get<post::make_office>("post_make_office")(system, office);
  CHECK(system.request(office, post::parcel{"Paris", 3}).get().value() == "to Paris");
  CHECK(system.request_as<std::string>(any_ref(office), post::parcel{"Rome", 4}).get().value() ==
        "to Rome");
  CHECK(system.request(office, post::weigh{}).get().value() == 7);
  CHECK(system.request_as<int>(any_ref(office), 1).get().error() == errc::unexpected_message);
}

}  // namespace shared_library_test
