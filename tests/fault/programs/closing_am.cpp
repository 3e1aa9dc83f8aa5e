// Ranks that end, close and communicate in an order that the command line says: one list of steps
// for the last rank, one for all others. Every wait of these ranks must end.
//
//     closing_am STEPS-OF-THE-LAST STEPS-OF-THE-OTHERS      as "open,meet,close,end"
//
// open: a Context, a Bundle and an Endpoint. shut: ends the Endpoint; close: all three. meet: a
// barrier. fence: of the Bootstrap. ask, much, medium, bulk, get: one request, many of them, or
// data, to the last rank, until all have been answered or have come back. unmap: forgets it.
// serve: polls for a moment. pause: a moment without polls. return: leaves the body, one for
// failure. exit, leave: exit() and _exit(). throw, kill.

#include <unistd.h>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"

namespace am = viaduct::am;
using viaduct::Status;

namespace {

constexpr auto kMoment = std::chrono::milliseconds(60);
thread_local int under_way = 0;

void on_done(am::Token&) { --under_way; }
void on_ask(am::Token& token) { static_cast<void>(token.reply<on_done>()); }
void on_medium(am::Token& token, std::span<const std::byte>) {
  static_cast<void>(token.reply<on_done>());
}
void on_bulk(am::Token& token, std::span<std::byte>) { static_cast<void>(token.reply<on_done>()); }
void on_data(am::Token&, std::span<std::byte>) { --under_way; }

class Actor {
 public:
  explicit Actor(viaduct::Job& job) : job_(job), last_(am::Index{job.size() - 1}) {}

  void take(const std::string& step) {
    if (step == "open") open();
    if (step == "shut" || step == "close") endpoint_.reset();
    if (step == "close") bundle_.reset();
    if (step == "close") context_.reset();
    if (step == "meet") static_cast<void>(bundle_->barrier());
    if (step == "fence") job_.bootstrap().fence();
    if (step == "serve") static_cast<void>(bundle_->wait_until([] { return false; }, 60'000'000));
    if (step == "pause") std::this_thread::sleep_for(kMoment);
    if (step == "exit") std::exit(0);
    if (step == "leave") ::_exit(0);
    if (step == "throw") throw std::runtime_error("has failed");
    if (step == "kill") ::raise(SIGKILL);
    send(step);
  }

 private:
  void open() {
    context_ = std::make_unique<am::Context>(job_);
    bundle_ = std::make_unique<am::Bundle>(*context_);
    endpoint_ = std::make_unique<am::Endpoint>(*bundle_);
    endpoint_->map_all();
    endpoint_->make_segment(data_.size());
    endpoint_->set_undeliverable_handler([](const am::Returned&) { --under_way; });
  }

  void send(const std::string& step) {
    constexpr int kMany = 300;
    if (step == "ask") count(endpoint_->request<on_ask>(last_));
    if (step == "medium")
      count(endpoint_->request_medium<on_medium>(last_, std::span(data_).first(1000)));
    if (step == "bulk") count(endpoint_->request_bulk<on_bulk>(last_, std::span(data_), 0));
    if (step == "get") count(endpoint_->get<on_data>(last_, std::span(data_), 0));
    for (int i = 0; step == "much" && i < kMany; ++i) count(endpoint_->request<on_ask>(last_));
    if (under_way != 0) static_cast<void>(bundle_->wait_until([] { return under_way == 0; }));
    if (step == "unmap") static_cast<void>(endpoint_->unmap(last_));
  }
  static void count(Status sent) { under_way += sent == Status::ok ? 1 : 0; }

  viaduct::Job& job_;
  am::Index last_;
  std::vector<std::byte> data_ = std::vector<std::byte>(300'000);
  std::unique_ptr<am::Context> context_;
  std::unique_ptr<am::Bundle> bundle_;
  std::unique_ptr<am::Endpoint> endpoint_;
};

int body(viaduct::Job& job, int, char** argv) {
  const bool last = index(job.rank()) + 1 == job.size();
  std::istringstream steps(argv[last ? 1 : 2]);
  Actor actor(job);
  for (std::string step; std::getline(steps, step, ',');) {
    if (step == "return") return 1;
    actor.take(step);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return argc == 3 ? viaduct::run(body, argc, argv) : 2; }
