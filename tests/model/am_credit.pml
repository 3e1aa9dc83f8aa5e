/* The credit protocol of a MAP, third generation (viaduct/am/detail/map.hpp, medium_ring.hpp), with the sleep of a
 * rank that has nothing to do (via/shm/completion_queue.cpp).
 *
 * Every endpoint sends REQUESTS requests, of each size and number of lines, to any other; its handlers answer with
 * nothing, a short or a medium reply. All choices are free. Checked: no endpoint is stuck (every wait blocks here, so
 * that being stuck is an invalid end state), nothing is overwritten, no more than K requests of a peer are put off, a
 * one-line reply never waits for a slot, requests are handled exactly once and in order, and in the end every credit is
 * back.
 *
 * Parameters  N endpoints, K credits, S slots a ring, R slots given back at a time, B medium payloads a ring,
 *             P credits given back at a time, REQUESTS of each endpoint, TWO_LINES: messages may need two slots
 * Variants    SLEEP: who waits may block in the kernel; without it everybody polls for ever.
 *             MUTANT_...: one rule left out, see below; spin must find an error in each.
 *             WITNESS_...: an assertion that fails where something rare happens: shows that the search gets there.
 *
 * Memory order. Stores of one endpoint are seen in order; a store may be delayed past the look at the peer's sleep flag
 * that follows it (x86). The sleeper's membarrier waits until no such store is on its way.
 */
#ifndef N
#define N 2
#endif
#ifndef K
#define K 1
#endif
#ifndef R
#define R 1
#endif
#ifndef S
#ifdef MUTANT_SLOTS
#define S (2 * K + R - 2)
#else
#define S (2 * K + R)
#endif
#endif
#ifndef B
#define B 1
#endif
#ifndef P
#define P 1
#endif
#ifndef REQUESTS
#define REQUESTS 2
#endif

#define D(from, to) ((from) * N + (to))
#define ME _pid
#define NEXT ((_pid + 1) % N)
#define PREVIOUS ((_pid + N - 1) % N)

/* Per direction. `used` and `medium_used` are what the sender sees: given-back counters subtracted. */
chan ring[N * N] = [S] of { bit, bit, bit, bit, byte };  /* reply, medium, overflow, two lines, number */
byte used[N * N];         /* lines written and not given back */
byte taken[N * N];        /* of these, lines that the receiver has taken */
byte medium_used[N * N];  /* payloads written and not given back */
byte medium_head[N * N];  /* sender: place of the next payload */
byte medium_next[N * N];  /* receiver: where the next payload is */
byte medium_first[N * N]; /* receiver: the oldest payload not given back */
bit held[N * N * B];      /* a payload that its handler still needs */
bit returned[N * N * B];      /* its handler has returned; not given back yet */

/* Per direction of the requests. */
byte credits[N * N];
byte owed[N * N];   /* handled without a reply, not published */
byte given[N * N];  /* published, not yet taken in by the requester */
byte sent[N * N];   /* requests */
byte handled[N * N];
chan deferred[N * N] = [K] of { bit, byte, byte };  /* medium, place, number */

bit overflow[N];  /* the endpoint's overflow block is in use */
bit sleeping[N];
bit doorbell[N];
bit on_its_way[N];  /* a store that is still in the endpoint's store buffer */

#define LOOK(peer) atomic { if :: sleeping[peer] -> doorbell[peer] = 1 :: else fi }

/* A store that the peer may be waiting for, then the look whether it sleeps; or the look first. */
#ifdef SLEEP
#define STORE(peer, effect)                                                                     \
  if                                                                                            \
  :: atomic { effect }; LOOK(peer)                                                              \
  :: atomic { saw = sleeping[peer]; on_its_way[ME] = 1 };                                       \
     atomic { effect; on_its_way[ME] = 0; if :: saw -> doorbell[peer] = 1; saw = 0 :: else fi }     \
  fi
#else
#define STORE(peer, effect) atomic { effect }
#endif
#ifdef MUTANT_COUNTER_WAKES_NOBODY
#define STORE_COUNTER(peer, effect) atomic { effect }
#else
#define STORE_COUNTER(peer, effect) STORE(peer, effect)
#endif

#define ROOM(peer, two) (used[D(ME, peer)] + 1 + two <= S)
#define MEDIUM_ROOM(peer) (medium_used[D(ME, peer)] < B)
#ifdef MUTANT_NO_OVERFLOW
#define OVERFLOW_FREE false
#else
#define OVERFLOW_FREE (!overflow[ME])
#endif
#define ARRIVED_FROM(peer) (len(ring[D(peer, ME)]) > 0)
#if N == 2
#define ARRIVED ARRIVED_FROM(NEXT)
#define DEFERRED (len(deferred[D(NEXT, ME)]) > 0)
#define ALL_BACK (credits[D(ME, NEXT)] == K)
#define GIVEN (given[D(ME, NEXT)] > 0)
#else
#define ARRIVED (ARRIVED_FROM(NEXT) || ARRIVED_FROM(PREVIOUS))
#define DEFERRED (len(deferred[D(NEXT, ME)]) > 0 || len(deferred[D(PREVIOUS, ME)]) > 0)
#define ALL_BACK (credits[D(ME, NEXT)] == K && credits[D(ME, PREVIOUS)] == K)
#define GIVEN (given[D(ME, NEXT)] > 0 || given[D(ME, PREVIOUS)] > 0)
#endif

/* What is written: line(s), and a payload into the medium ring. */
#define WRITE(peer, reply, in_ring, in_overflow, two, number)                                   \
  assert(used[D(ME, peer)] - taken[D(ME, peer)] + 1 + two <= S);                                \
  used[D(ME, peer)] = used[D(ME, peer)] + 1 + two;                                              \
  if                                                                                            \
  :: in_ring ->                                                                                 \
     assert(!held[D(ME, peer) * B + medium_head[D(ME, peer)]]);                                 \
     held[D(ME, peer) * B + medium_head[D(ME, peer)]] = 1;                                      \
     medium_used[D(ME, peer)]++;                                                                \
     medium_head[D(ME, peer)] = (medium_head[D(ME, peer)] + 1) % B                              \
  :: else                                                                                       \
  fi;                                                                                           \
  if :: in_overflow -> assert(!overflow[ME]); overflow[ME] = 1 :: else fi;                      \
  ring[D(ME, peer)]!reply, (in_ring || in_overflow), in_overflow, two, number

/* Slots are given back in batches, and all of them before blocking. */
inline give_slots_back(peer) {
  STORE_COUNTER(peer, used[D(peer, ME)] = used[D(peer, ME)] - taken[D(peer, ME)]; taken[D(peer, ME)] = 0)
}
inline give_credits_back(peer) {
  STORE_COUNTER(peer, given[D(peer, ME)] = given[D(peer, ME)] + owed[D(peer, ME)]; owed[D(peer, ME)] = 0)
}

/* A payload's handler has returned: everything before the first one still held goes back. */
inline give_payload_back(peer, place) {
  atomic {
    assert(held[D(peer, ME) * B + place]);
    held[D(peer, ME) * B + place] = 0;
    returned[D(peer, ME) * B + place] = 1;
    freed = 0;
#ifdef MUTANT_RELEASE_ORDER
    returned[D(peer, ME) * B + place] = 0;
    freed = 1;
#else
    do
    :: returned[D(peer, ME) * B + medium_first[D(peer, ME)]] ->
       returned[D(peer, ME) * B + medium_first[D(peer, ME)]] = 0;
       medium_first[D(peer, ME)] = (medium_first[D(peer, ME)] + 1) % B;
       freed++
    :: else -> break
    od
#endif
  };
  if
  :: freed > 0 -> STORE_COUNTER(peer, medium_used[D(peer, ME)] = medium_used[D(peer, ME)] - freed; freed = 0)
  :: else
  fi
}

/* Takes one message off the ring from `peer`; its words are copied, its payload stays where it is. */
inline take(peer) {
  atomic {
    ring[D(peer, ME)]?reply, medium, over, two, number;
    taken[D(peer, ME)] = taken[D(peer, ME)] + 1 + two;
    two = 0;
    if
    :: medium && !over ->
       place = medium_next[D(peer, ME)];
       medium_next[D(peer, ME)] = (place + 1) % B
    :: else
    fi
  }
}

inline end_of_message(peer) {
  if :: taken[D(peer, ME)] >= R -> give_slots_back(peer) :: else fi
}

/* A reply brings the credit back. Its handler does not communicate. */
inline run_reply_handler(peer) {
  atomic { credits[D(ME, peer)]++; assert(credits[D(ME, peer)] <= K) };
  if
  :: over -> atomic { over = 0; medium = 0 }; STORE_COUNTER(peer, overflow[peer] = 0)
  :: medium && !over -> medium = 0; give_payload_back(peer, place)
  :: else
  fi;
  atomic { reply = 0; number = 0; place = 0 }
}

/* Polls for replies only: requests are put off. */
inline poll_replies(peer) {
  take(peer);
  if
  :: reply -> run_reply_handler(peer)
  :: else ->
     atomic {
       assert(len(deferred[D(peer, ME)]) < K);
       deferred[D(peer, ME)]!medium, place, number;
       medium = 0; place = 0; number = 0
     }
  fi;
  end_of_message(peer)
}

/* Blocks in the kernel unless `condition` holds; `may_end` says whether it may be for ever. */
#ifdef MUTANT_NO_FENCE
#define MEMBARRIER skip
#elif N == 2
#define MEMBARRIER (!on_its_way[NEXT])
#else
#define MEMBARRIER (!on_its_way[NEXT] && !on_its_way[PREVIOUS])
#endif
inline publish_all(peer) {
#ifndef MUTANT_KEEPS_WHEN_ASLEEP
  if :: taken[D(peer, ME)] > 0 -> give_slots_back(peer) :: else fi;
  if :: owed[D(peer, ME)] > 0 -> give_credits_back(peer) :: else fi
#else
  skip
#endif
}
inline publish_to_all() {
  publish_all(NEXT);
#if N > 2
  publish_all(PREVIOUS)
#endif
}

#define REPLY_FITS (ROOM(source, reply_two) && (!reply_medium || MEDIUM_ROOM(source) || OVERFLOW_FREE))
#define REQUEST_FITS (credits[D(ME, to)] > 0 && ROOM(to, request_two) && (!request_medium || MEDIUM_ROOM(to)))
#define TO_DO (ARRIVED || DEFERRED || GIVEN || (wants && REQUEST_FITS) || (!wants && left > 0))
#define FINISHED (left == 0 && !wants && ALL_BACK)

/* A request handler replies at once; while there is no room it polls for replies. */
inline wait_for_room() {
  do
  :: REPLY_FITS -> break
#ifndef MUTANT_NO_POLL_IN_REPLY
  :: !REPLY_FITS && ARRIVED_FROM(NEXT) -> poll_replies(NEXT)
#if N > 2
  :: !REPLY_FITS && ARRIVED_FROM(PREVIOUS) -> poll_replies(PREVIOUS)
#endif
#endif
#ifdef SLEEP
  :: !REPLY_FITS && !ARRIVED ->
     atomic { doorbell[ME] = 0; sleeping[ME] = 1 };
     publish_to_all();
     MEMBARRIER;
     if
     :: REPLY_FITS || ARRIVED
     :: !(REPLY_FITS || ARRIVED) ->
#ifdef WITNESS_SLEEP_IN_REPLY
        assert(false);
#endif
        doorbell[ME]
     fi;
     sleeping[ME] = 0
#endif
  od
}

inline send_reply() {
  if
  :: reply_medium && MEDIUM_ROOM(source) -> STORE(source, WRITE(source, 1, 1, 0, reply_two, 0))
  :: reply_medium && !MEDIUM_ROOM(source) ->
#ifdef WITNESS_OVERFLOW
     assert(false);
#endif
     STORE(source, WRITE(source, 1, 0, 1, reply_two, 0))
  :: !reply_medium -> STORE(source, WRITE(source, 1, 0, 0, reply_two, 0))
  fi
}

/* The request is in source, own_medium, own_place, number. */
inline run_request_handler() {
  atomic {
    assert(number == handled[D(source, ME)]);
    handled[D(source, ME)]++;
    number = 0;
    if
    :: reply_medium = 1; answers = 1
    :: answers = 1
#ifdef TWO_LINES
    :: reply_two = 1; answers = 1
#endif
    :: answers = 0
    fi
  };
  if
  :: answers ->
#ifndef TWO_LINES
     assert(ROOM(source, 0));
#endif
     wait_for_room();
     send_reply();
     atomic { reply_medium = 0; reply_two = 0; answers = 0 }
  :: else ->
#ifndef MUTANT_NO_CREDIT
     owed[D(source, ME)]++;
     if :: owed[D(source, ME)] >= P -> give_credits_back(source) :: else fi
#else
     skip
#endif
  fi;
  if :: own_medium -> own_medium = 0; give_payload_back(source, own_place) :: else fi;
  atomic { own_place = 0; source = 0 }
}

inline poll(peer) {
  take(peer);
  if
  :: reply -> run_reply_handler(peer)
  :: else ->
     atomic { source = peer; own_medium = medium; own_place = place; medium = 0; place = 0 };
     run_request_handler()
  fi;
  end_of_message(peer)
}

inline run_deferred(peer) {
  atomic { deferred[D(peer, ME)]?own_medium, own_place, number; source = peer };
#ifdef WITNESS_DEFERRED
  assert(!own_medium);
#endif
  run_request_handler()
}

inline take_credits_in(peer) {
  atomic {
    credits[D(ME, peer)] = credits[D(ME, peer)] + given[D(ME, peer)];
    given[D(ME, peer)] = 0;
    assert(credits[D(ME, peer)] <= K)
  }
}

inline choose_request() {
  atomic {
    wants = 1; left--;
    if
    :: to = NEXT
#if N > 2
    :: to = PREVIOUS
#endif
    fi;
    if
    :: request_medium = 1
    :: skip
#ifdef TWO_LINES
    :: request_two = 1
#endif
    fi
  }
}

inline send_request() {
  STORE(to, WRITE(to, 0, request_medium, 0, request_two, sent[D(ME, to)]); sent[D(ME, to)]++; credits[D(ME, to)]--);
  atomic { wants = 0; request_medium = 0; request_two = 0; to = 0 }
}

active [N] proctype endpoint() {
  byte left = REQUESTS;
  bit wants, request_medium, request_two; byte to;       /* the request to be sent */
  bit reply, medium, over, two; byte number, place;      /* the message just taken */
  byte source; bit own_medium; byte own_place;           /* the request being handled */
  bit answers, reply_medium, reply_two;                  /* and its reply */
  byte freed; bit saw;

  atomic {
    credits[D(ME, NEXT)] = K;
#if N > 2
    credits[D(ME, PREVIOUS)] = K
#endif
  };
  do
  :: !wants && left > 0 -> choose_request()
  :: wants && REQUEST_FITS -> send_request()
#ifdef MUTANT_DEAF_WHILE_WAITING  /* a request that waits for a credit runs no requests: two such wait for each other */
  :: wants && !REQUEST_FITS && ARRIVED_FROM(NEXT) -> poll_replies(NEXT)
  :: !wants && !DEFERRED && ARRIVED_FROM(NEXT) -> poll(NEXT)
  :: !wants && len(deferred[D(NEXT, ME)]) > 0 -> run_deferred(NEXT)
#else
  :: len(deferred[D(NEXT, ME)]) > 0 -> run_deferred(NEXT)
  :: len(deferred[D(NEXT, ME)]) == 0 && ARRIVED_FROM(NEXT) -> poll(NEXT)
#if N > 2
  :: len(deferred[D(PREVIOUS, ME)]) > 0 -> run_deferred(PREVIOUS)
  :: len(deferred[D(PREVIOUS, ME)]) == 0 && ARRIVED_FROM(PREVIOUS) -> poll(PREVIOUS)
#endif
#endif
  :: given[D(ME, NEXT)] > 0 -> take_credits_in(NEXT)
#if N > 2
  :: given[D(ME, PREVIOUS)] > 0 -> take_credits_in(PREVIOUS)
#endif
#ifdef SLEEP
  :: !TO_DO ->
     atomic { doorbell[ME] = 0; sleeping[ME] = 1 };
     publish_to_all();
     MEMBARRIER;
     if
     :: TO_DO
     :: !TO_DO && FINISHED ->
        assert(handled[D(ME, NEXT)] == sent[D(ME, NEXT)]);
#if N > 2
        assert(handled[D(ME, PREVIOUS)] == sent[D(ME, PREVIOUS)]);
#endif
end_asleep: doorbell[ME]
     :: !TO_DO && !FINISHED -> doorbell[ME]
     fi;
     sleeping[ME] = 0
#else
  :: !TO_DO && left == 0 && !wants ->
end_polling: TO_DO
#endif
  od
}
