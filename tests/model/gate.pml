/* The gate of a parallel bundle (am/src/shared_calls.hpp): N threads make CALLS calls each, short or long ones, into one
 * bundle or past it. A handler of a short call may make a long one; a handler that a long call runs may wait, and puts
 * the lock down meanwhile. All choices are free, also for whom the gate is reserved. Checked: one thread at a time is
 * behind the gate; nobody is while a thread has the calls' lock, or has left a handler of the bundle in the middle; and
 * no thread is stuck.
 *
 * Memory order (x86): each thread's plain stores wait in its buffer, in order, for any time; its loads do not wait for
 * them. A locked instruction waits until the own buffer is empty. The barrier of the process waits for each thread's
 * buffer, one after the other.
 *
 * MUTANT_...: one rule left out; spin must find an error in each. WITNESS_...: an assertion that fails where something
 * rare happens: shows that the search gets there.
 */
#ifndef N
#define N 2
#endif
#ifndef CALLS
#define CALLS 2
#endif
#ifndef DEPTH
#define DEPTH 3 /* stores that a buffer holds */
#endif

#if N == 2 || CALLS == 1 /* else the search is too large */
#define PAUSES
#endif

#define NOBODY N
#ifndef FIRST
#define FIRST NOBODY /* for whom the gate is reserved at first */
#endif

#define OPEN 0
#define INSIDE 1
#define PARKED 2

/* A store in a buffer: of the thread's own word, or of the gate's state. */
#define OWN_WORD 0
#define STATE 1

byte state = OPEN;
byte owner = FIRST;
bit inside[N]; /* the thread's word names the gate */
bit closed;
bit locked;
chan buffer[N] = [DEPTH] of { bit, byte };

/* Who is where, for the checks. */
byte behind;
bit alone;
byte parker = NOBODY;
byte paused; /* handlers of the bundle in a pause of a holder */

#define ME _pid
#define DRAINED empty(buffer[ME])
#define COME_IN atomic { assert(behind == 0 && !alone && paused == 0); behind++ }

/* As try_reserved(): the thread's word, then the looks at the lock and at the owner, which may overtake it. */
inline try_reserved() {
  buffer[ME]!OWN_WORD, 1;
  saw = closed;
#ifdef MUTANT_NO_OWNER
  passed = !saw;
#else
  passed = (!saw && owner == ME);
#endif
  if
  :: passed -> COME_IN
  :: else ->
#ifdef WITNESS_MISSED
     assert(closed || owner == ME);
#endif
     buffer[ME]!OWN_WORD, 0
  fi
}

/* As try_pass(), with one look where that one looks again and again. */
inline try_pass() {
  passed = 0;
  who = owner;
  if
  :: who == ME -> try_reserved()
  :: who == NOBODY && !closed ->
     atomic {
       DRAINED;
       if
       :: state == OPEN -> state = INSIDE; saw = 0
       :: else -> saw = 1
       fi
     };
     if
     :: !saw ->
        saw = closed;
#ifdef MUTANT_NO_OWNER_BY_STATE
        passed = !saw;
#else
        passed = (!saw && owner == NOBODY);
#endif
        if
        :: passed -> by_state = 1; COME_IN; buffer[ME]!OWN_WORD, 1
        :: else -> atomic { DRAINED; state = OPEN }
        fi
     :: else
     fi
  :: else
  fi
}

inline go_out() {
  atomic { behind--; };
  if
  :: by_state -> by_state = 0; buffer[ME]!STATE, OPEN
  :: else
  fi;
  buffer[ME]!OWN_WORD, 0
}

/* As clear(): cleared says whether it answers true. */
inline clear(called) {
  cleared = 0;
  who = owner;
#ifndef MUTANT_NO_BARRIER
  if
  :: who != NOBODY && who != ME ->
     empty(buffer[0]);
     empty(buffer[1]);
#if N == 3
     empty(buffer[2])
#endif
  :: else
  fi;
#endif
  if
  :: passed -> cleared = 1 /* behind the gate itself */
  :: else ->
     do
     :: state == PARKED -> cleared = (!called || parker == ME); is_parked = 1; break
     :: state == OPEN ->
        if
        :: who == NOBODY || who == ME || !inside[who] -> cleared = 1; is_parked = 0; break
        :: else
        fi
     od;
     if
     :: !is_parked ->
        /* As decide_owner(). */
        if
        :: called -> owner = ME
        :: called && who != ME -> owner = NOBODY
        :: !called && who != ME -> owner = NOBODY
        :: true
        fi;
#ifdef WITNESS_TAKEN
        assert(who == NOBODY || who == ME || owner != ME);
#endif
     :: else
     fi
  fi
}

/* A call with the calls' lock, into the bundle or past it. */
inline long_call(called) {
  if
  :: passed ->
#ifdef MUTANT_PARKS_OVER
     atomic { DRAINED; state = PARKED; behind-- };
#else
#ifdef PAUSES
     parker = ME;
#endif
     if
     :: by_state -> atomic { DRAINED; state = PARKED; behind-- }
     :: else -> atomic { DRAINED && state == OPEN -> state = PARKED; behind-- }
     fi;
#endif
     by_state = 1
  :: else
  fi;
  do
  :: atomic { !locked && DRAINED -> locked = 1 };
     closed = 1;
     clear(called);
     if
     :: cleared -> break
     :: else -> atomic { DRAINED; closed = 0; locked = 0 }; state != PARKED
     fi
  od;
  atomic { assert(behind == 0 && !alone && !(called && paused != 0)); alone = 1 };
#ifdef PAUSES
  if
  :: true
  :: state == OPEN && !passed -> /* a handler of the bundle runs and waits, as pause() and resume() */
#ifndef MUTANT_KEEPS_OWNER
     owner = NOBODY;
#endif
     parker = ME;
     atomic { DRAINED && state == OPEN -> state = PARKED; paused++ };
     alone = 0;
     atomic { DRAINED; closed = 0 };
     locked = 0;
     do
     :: atomic { !locked && DRAINED -> locked = 1 };
        closed = 1;
        clear(1);
        if
        :: cleared -> break
        :: else -> assert(0)
        fi
     od;
     atomic { assert(behind == 0 && !alone); alone = 1; paused-- };
     assert(state == PARKED && parker == ME);
     atomic { DRAINED; state = OPEN }
  fi;
#endif
  atomic { DRAINED; alone = 0; closed = 0 };
  locked = 0;
  if
  :: passed ->
     do
     :: atomic { DRAINED; state = INSIDE };
#ifdef MUTANT_RETURNS_PAST
        COME_IN; break
#else
        if
        :: !closed -> COME_IN; break
        :: else -> atomic { DRAINED; state = PARKED }; !closed
        fi
#endif
     od
  :: else
  fi
}

active [N] proctype Thread() {
  byte calls = CALLS;
  byte who;
  bit saw, passed, by_state, cleared, is_parked;
  do
  :: calls > 0 ->
     calls--;
     passed = 0;
     if
     :: true -> try_pass();
        if
        :: passed ->
           if
           :: true
           :: true -> long_call(0) /* of its handler */
           fi;
           go_out();
           passed = 0
        :: else -> long_call(1)
        fi
     :: true -> long_call(0) /* past the bundle */
     :: true -> long_call(1)
     fi
  :: else -> break
  od
}

/* The memory takes stores out of the buffers. */
active proctype Memory() {
  byte value;
end:
  do
  :: atomic { buffer[0]?OWN_WORD, value -> inside[0] = value }
  :: atomic { buffer[0]?STATE, value -> state = value }
  :: atomic { buffer[1]?OWN_WORD, value -> inside[1] = value }
  :: atomic { buffer[1]?STATE, value -> state = value }
#if N == 3
  :: atomic { buffer[2]?OWN_WORD, value -> inside[2] = value }
  :: atomic { buffer[2]?STATE, value -> state = value }
#endif
  od
}
