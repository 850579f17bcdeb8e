// A library that the test loads at run time: it brings an actor.
#include "parcel.hpp"

namespace {

class desk : public garrick::actor<post::office> {
  int sum_ = 0;

 public:
  std::string on(const post::parcel& p) {
    sum_ += p.weight;
    return "to " + p.to;
  }
  int on(post::weigh) const { return sum_; }
};

}  // namespace

extern "C" {
void post_make_office(garrick::actor_system& system, garrick::ref<post::office>& out) {
  out = system.spawn<desk>();
}
const garrick::base::message_type* post_type_of_parcel() {
  return &garrick::base::message_type_of<post::parcel>;
}
}
