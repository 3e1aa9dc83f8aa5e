/* The rules of VIPL for calls that meet: waits whose object goes away meanwhile, callbacks that
   take their own object apart, regions that are given back between two posts. */

#include "tests/vipl/rules_rig.h"

/* A call that waits in a thread of its own. */
typedef struct {
  VIP_RETURN (*call)(void);
  VIP_RETURN result;
} Waiter;

static VIP_VI_HANDLE waited_vi;
static VIP_CQ_HANDLE waited_cq;
static VIP_NIC_HANDLE waited_nic;
static VIP_DESCRIPTOR* waited_descriptor;

static void* run_waiter(void* argument) {
  Waiter* const waiter = (Waiter*)argument;
  waiter->result = waiter->call();
  return NULL;
}

static void nap(void) {
  struct timespec pause;
  pause.tv_sec = 0;
  pause.tv_nsec = 3000000; /* the waiter has given up spinning */
  nanosleep(&pause, NULL);
}

/* What @p call answers, during which @p meanwhile is done. */
static VIP_RETURN waits_while(VIP_RETURN (*call)(void), void (*meanwhile)(void)) {
  Waiter waiter;
  pthread_t thread;
  waiter.call = call;
  waiter.result = VIP_ERROR;
  pthread_create(&thread, NULL, run_waiter, &waiter);
  nap();
  meanwhile();
  pthread_join(thread, NULL);
  return waiter.result;
}

static VIP_RETURN wait_for_receive(void) {
  return VipRecvWait(waited_vi, VIP_INFINITE, &waited_descriptor);
}
static VIP_RETURN wait_for_entry(void) {
  VIP_VI_HANDLE of;
  VIP_BOOLEAN receive;
  return VipCQWait(waited_cq, VIP_INFINITE, &of, &receive);
}
static VIP_RETURN wait_for_request(void) {
  AddressRoom local, remote;
  VIP_VI_ATTRIBUTES attributes;
  VIP_CONN_HANDLE connection;
  return VipConnectWait(waited_nic, here(&rig, &local, "nobody asks"), VIP_INFINITE,
                        &remote.address, &attributes, &connection);
}
static VIP_RETURN wait_for_answer(void) {
  AddressRoom local, remote;
  VIP_VI_ATTRIBUTES attributes;
  return VipConnectRequest(waited_vi, here(&rig, &local, "client"),
                           here(&rig, &remote, "nobody waits"), VIP_INFINITE, &attributes);
}
static VIP_RETURN wait_for_peer(void) {
  VIP_VI_ATTRIBUTES attributes;
  return VipConnectPeerWait(waited_vi, &attributes);
}
static void disconnect_it(void) { WANT(VIP_SUCCESS, VipDisconnect(waited_vi)); }
/* Before the attempt has begun there is nothing to end, and it would wait for ever. */
static void disconnect_the_attempt(void) {
  while (state_of(waited_vi) != VIP_STATE_CONNECT_PENDING) nap();
  disconnect_it();
}
static void destroy_it(void) { WANT(VIP_SUCCESS, VipDestroyVi(waited_vi)); }
static void destroy_cq(void) { WANT(VIP_SUCCESS, VipDestroyCQ(waited_cq)); }
static void close_nic(void) { WANT(VIP_SUCCESS, VipCloseNic(waited_nic)); }

static void disconnect_ends_a_wait(void) {
  waited_vi = b;
  post_receive(b, 0, 100);
  WANT(VIP_DESCRIPTOR_ERROR, waits_while(wait_for_receive, disconnect_it));
  CHECK(waited_descriptor == room(0));
  CHECK((room(0)->CS.Status & VIP_STATUS_DESC_FLUSHED_ERROR) != 0);
}

static void destroyed_while_waited_for(void) {
  waited_vi = make_vi(&rig, level, NULL, NULL);
  post_receive(waited_vi, 0, 100);
  WANT(VIP_INVALID_PARAMETER, waits_while(wait_for_receive, destroy_it));
  WANT(VIP_SUCCESS, VipCreateCQ(rig.nic, 4, &waited_cq));
  WANT(VIP_INVALID_PARAMETER, waits_while(wait_for_entry, destroy_cq));
  WANT(VIP_SUCCESS, VipOpenNic("nic0", &waited_nic));
  WANT(VIP_INVALID_PARAMETER, waits_while(wait_for_request, close_nic));
}

static void disconnect_ends_an_attempt(void) {
  AddressRoom local, remote;
  waited_vi = make_vi(&rig, level, NULL, NULL);
  WANT(VIP_INVALID_STATE, waits_while(wait_for_answer, disconnect_the_attempt));
  CHECK(state_of(waited_vi) == VIP_STATE_IDLE);
  WANT(VIP_SUCCESS, VipConnectPeerRequest(waited_vi, here(&rig, &local, "here"),
                                          here(&rig, &remote, "nobody there"), VIP_INFINITE));
  CHECK(state_of(waited_vi) == VIP_STATE_CONNECT_PENDING);
  WANT(VIP_INVALID_STATE, VipDestroyVi(waited_vi));
  WANT(VIP_INVALID_STATE, VipConnectPeerRequest(waited_vi, &local.address, &remote.address, 10));
  WANT(VIP_INVALID_STATE, waits_while(wait_for_peer, disconnect_it));
  CHECK(state_of(waited_vi) == VIP_STATE_IDLE);
  WANT(VIP_SUCCESS, VipDestroyVi(waited_vi));
}

/* Callbacks. */

static void take_apart(VIP_PVOID context, VIP_ERROR_DESCRIPTOR* error) {
  CHECK(context == &waited_vi && error->ViHandle == waited_vi);
  WANT(VIP_SUCCESS, VipDisconnect(error->ViHandle));
  WANT(VIP_SUCCESS, VipDestroyVi(error->ViHandle));
  pthread_mutex_lock(&heard_lock);
  ++heard_errors;
  pthread_mutex_unlock(&heard_lock);
}
static int errors_heard(void) {
  int count;
  pthread_mutex_lock(&heard_lock);
  count = heard_errors;
  pthread_mutex_unlock(&heard_lock);
  return count;
}

static void error_callback_destroys_the_vi(void) {
  VIP_VI_HANDLE c = make_vi(&rig, level, NULL, NULL);
  VIP_RETURN got = VIP_NOT_DONE;
  VIP_DESCRIPTOR* d;
  double begin = seconds();
  waited_vi = make_vi(&rig, level, NULL, NULL);
  connect_both(&rig, c, waited_vi);
  post_receive(waited_vi, 0, 100);
  WANT(VIP_SUCCESS, VipErrorCallback(rig.nic, &waited_vi, take_apart));
  WANT(VIP_SUCCESS, VipDisconnect(c));
  /* The callback may run in a thread of the library, and go on after the VI has ended. */
  while ((got != VIP_INVALID_PARAMETER || errors_heard() == 0) && seconds() - begin < 20)
    got = VipRecvDone(waited_vi, &d);
  CHECK(got == VIP_INVALID_PARAMETER && errors_heard() == 1);
  WANT(VIP_SUCCESS, VipErrorCallback(rig.nic, &rig, on_error));
  WANT(VIP_SUCCESS, VipDestroyVi(c));
}

/* A handler whose call finds the next error is not called for that before it has returned. */
static int running, most_running;
static void disconnect_in_turn(VIP_PVOID context, VIP_ERROR_DESCRIPTOR* error) {
  (void)context;
  pthread_mutex_lock(&heard_lock);
  if (++running > most_running) most_running = running;
  pthread_mutex_unlock(&heard_lock);
  WANT(VIP_SUCCESS, VipDisconnect(error->ViHandle));
  pthread_mutex_lock(&heard_lock);
  --running;
  ++heard_errors;
  pthread_mutex_unlock(&heard_lock);
}

static void error_callbacks_run_in_turn(void) {
  const int before = errors_heard();
  VIP_VI_HANDLE c, e;
  double begin = seconds();
  if (level == VIP_SERVICE_UNRELIABLE) return; /* no error */
  c = make_vi(&rig, level, NULL, NULL);
  e = make_vi(&rig, level, NULL, NULL);
  connect_both(&rig, c, e);
  WANT(VIP_SUCCESS, VipErrorCallback(rig.nic, NULL, disconnect_in_turn));
  post_send(c, 0, 8); /* and no receive */
  while (errors_heard() < before + 2 && seconds() - begin < 20) {
    (void)state_of(c);
    (void)state_of(e);
  }
  CHECK(errors_heard() == before + 2 && most_running == 1);
  WANT(VIP_SUCCESS, VipErrorCallback(rig.nic, &rig, on_error));
  WANT(VIP_SUCCESS, VipDestroyVi(c));
  WANT(VIP_SUCCESS, VipDestroyVi(e));
}

#define ROUNDS 5

/* Posts the receive again and asks for the next notification; with the last one the VI ends. */
static void serve_again(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi,
                        VIP_DESCRIPTOR* d) {
  CHECK(nic == rig.nic && vi == waited_vi && d == room(0) && d->CS.Length == 9);
  if (heard_count + 1 < ROUNDS) {
    post_receive(vi, 0, 100);
    WANT(VIP_SUCCESS, VipRecvNotify(vi, context, serve_again));
  } else {
    WANT(VIP_SUCCESS, VipDisconnect(vi));
    WANT(VIP_SUCCESS, VipDestroyVi(vi));
  }
  pthread_mutex_lock(&heard_lock);
  ++heard_count;
  pthread_cond_signal(&heard_more);
  pthread_mutex_unlock(&heard_lock);
}

static void handler_asks_again(void) {
  VIP_VI_HANDLE c = make_vi(&rig, level, NULL, NULL);
  VIP_DESCRIPTOR* d;
  int i;
  waited_vi = make_vi(&rig, level, NULL, NULL);
  connect_both(&rig, c, waited_vi);
  heard_count = 0;
  post_receive(waited_vi, 0, 100);
  WANT(VIP_SUCCESS, VipRecvNotify(waited_vi, NULL, serve_again));
  for (i = 0; i < ROUNDS; ++i) {
    post_send(c, 1, 9);
    (void)wait_send(c, VIP_SUCCESS);
    wait_heard(i + 1);
  }
  WANT(VIP_INVALID_PARAMETER, VipRecvDone(waited_vi, &d));
  close_vi(c);
}

/* Two handlers, of which one has always something to do. */
#define MOST_TURNS 100000
static VIP_VI_HANDLE busy_sender;
static int busy_turns, busy_ended, other_served;

static void send_on(void) {
  VIP_DESCRIPTOR* d = NULL;
  post_send(busy_sender, 1, 9);
  while (VipSendDone(busy_sender, &d) == VIP_NOT_DONE) {
  }
}

static void keep_busy(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi, VIP_DESCRIPTOR* d) {
  int ends;
  (void)nic;
  (void)d;
  pthread_mutex_lock(&heard_lock);
  ends = ++busy_turns == MOST_TURNS || other_served;
  busy_ended = busy_ended || ends;
  pthread_cond_signal(&heard_more);
  pthread_mutex_unlock(&heard_lock);
  if (ends) return;
  post_receive(vi, 0, 100);
  WANT(VIP_SUCCESS, VipRecvNotify(vi, context, keep_busy));
  send_on();
}

static void serve_other(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi,
                        VIP_DESCRIPTOR* d) {
  (void)context;
  (void)nic;
  CHECK(vi == waited_vi && d == room(2));
  pthread_mutex_lock(&heard_lock);
  other_served = 1;
  pthread_mutex_unlock(&heard_lock);
}

static void handlers_take_turns(void) {
  VIP_VI_HANDLE busy, other;
  busy_sender = make_vi(&rig, level, NULL, NULL);
  busy = make_vi(&rig, level, NULL, NULL);
  other = make_vi(&rig, level, NULL, NULL);
  waited_vi = make_vi(&rig, level, NULL, NULL);
  connect_both(&rig, busy_sender, busy);
  connect_both(&rig, other, waited_vi);
  busy_turns = busy_ended = other_served = 0;
  post_receive(busy, 0, 100);
  WANT(VIP_SUCCESS, VipRecvNotify(busy, NULL, keep_busy));
  send_on();
  CHECK(wait_count(&busy_turns, 10) >= 10);
  post_receive(waited_vi, 2, 100);
  WANT(VIP_SUCCESS, VipRecvNotify(waited_vi, NULL, serve_other));
  post_send(other, 3, 9);
  (void)wait_send(other, VIP_SUCCESS);
  CHECK(wait_count(&busy_ended, 1) == 1 && other_served);
  close_vi(other);
  close_vi(waited_vi);
  close_vi(busy_sender);
  close_vi(busy);
}

/* The region of a VI's last descriptor is given back: the next post does not find it. */
static void regions_given_back(void) {
  static Room* own = NULL; /* for all levels */
  VIP_MEM_HANDLE first = 0, second = 0;
  int i;
  if (own == NULL) own = (Room*)aligned(2 * sizeof(Room));
  WANT(VIP_SUCCESS, VipRegisterMem(rig.nic, own, 2 * sizeof(Room), &rig.memory, &first));
  for (i = 0; i < 2; ++i) {
    const VIP_MEM_HANDLE handle = i == 0 ? first : second;
    WANT(VIP_SUCCESS, VipPostRecv(b, fill(&own[0].d, rig.there, 9, rig.there_handle), handle));
    WANT(VIP_SUCCESS, VipPostSend(a, fill(&own[1].d, rig.bytes, 9, rig.bytes_handle), handle));
    CHECK(wait_receive(b, VIP_SUCCESS) == &own[0].d);
    CHECK(wait_send(a, VIP_SUCCESS) == &own[1].d);
    WANT(VIP_SUCCESS, VipDeregisterMem(rig.nic, own, handle));
    WANT(VIP_INVALID_PARAMETER, VipPostRecv(b, &own[0].d, handle));
    WANT(VIP_INVALID_PARAMETER, VipPostSend(a, &own[1].d, handle));
    WANT(VIP_INVALID_PARAMETER, VipDeregisterMem(rig.nic, own, handle));
    if (i == 0)
      WANT(VIP_SUCCESS, VipRegisterMem(rig.nic, own, 2 * sizeof(Room), &rig.memory, &second));
    WANT(VIP_INVALID_PARAMETER, VipPostRecv(b, &own[0].d, first));
  }
}

static const Case kCases[] = {
    {"regions given back", regions_given_back},
    {"error callback destroys the VI", error_callback_destroys_the_vi},
    {"error callbacks run in turn", error_callbacks_run_in_turn},
    /* From here on more than one thread calls. */
    {"disconnect ends a wait", disconnect_ends_a_wait},
    {"destroyed while waited for", destroyed_while_waited_for},
    {"disconnect ends an attempt", disconnect_ends_an_attempt},
    {"handler asks again", handler_asks_again},
    {"handlers take turns", handlers_take_turns},
};

int main(int argc, char** argv) {
  return run_cases(argc, argv, kCases, sizeof kCases / sizeof *kCases);
}
