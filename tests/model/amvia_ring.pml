/* The ring of AMVIA v2 (docs/generations.md, via/generations/src/ring_space.hpp): a sender manages a ring of U units at
 * its receiver, which has M receives. MESSAGES messages of 1 to L units go there, and the receiver returns the count of
 * those that it has taken, when KEEP messages are owed. All choices are free: the length of each message, and when each
 * side runs. Checked: no message lies on one that has not been taken, each is taken once and in order, none meets an
 * empty receive queue, and nobody is stuck.
 *
 * MUTANT_...: one rule left out; spin must find an error in each. WITNESS_...: an assertion that fails where something
 * rare happens: shows that the search gets there.
 */
#ifndef U
#define U 5
#endif
#ifndef L
#define L 2
#endif
#ifndef M
#define M 2
#endif
#ifndef KEEP
#define KEEP 1
#endif
#ifndef MESSAGES
#define MESSAGES 7
#endif

#define FREE 0 /* a message's number is in its units plus one */

byte ring[U];          /* the message that lies in a unit and is not taken */
byte receives = M;     /* that are posted */
byte returned_word;    /* the receiver writes it by RDMA */
chan arrived = [M + 1] of { byte, byte, byte }; /* immediate values: number, place, length */

/* Of the sender. */
byte tail, used, sent, returned;
byte lengths[M]; /* units of the messages under way, with those that each has left out */

inline give() {
  do
  :: returned != returned_word ->
     used = used - lengths[returned % M];
     returned++
  :: else -> break
  od
}

active proctype Sender() {
  byte units, skipped, place, i;
  do
  :: sent < MESSAGES ->
     if
     :: units = 1
     :: units = L
     fi;
     do /* until there is room */
     :: atomic {
          give();
          if
          :: tail + units > U -> skipped = U - tail
          :: else -> skipped = 0
          fi;
          if
          :: sent - returned < M && used + skipped + units <= U -> break
          :: else
          fi
        };
        (returned != returned_word) /* waits for a count */
     od;
     if
     :: skipped == 0 -> place = tail
     :: else ->
#ifdef WITNESS_WRAP
        assert(false);
#endif
        place = 0
     fi;
     /* The RDMA write, unit by unit, then the immediate value. */
     i = 0;
     do
     :: i < units ->
        assert(ring[place + i] == FREE);
        ring[place + i] = sent + 1;
        i++
     :: else -> break
     od;
     atomic {
       assert(receives > 0);
       receives--;
       arrived!sent, place, units
     };
#ifdef MUTANT_SKIPPED_FREE
     lengths[sent % M] = units;
     used = used + units;
#else
     lengths[sent % M] = units + skipped;
     used = used + units + skipped;
#endif
     tail = (tail + units + skipped) % U;
     sent++
  :: else -> break
  od
}

active proctype Receiver() {
  byte number, place, units, taken, told, i;
  do
  :: taken < MESSAGES ->
     arrived?number, place, units;
     assert(number == taken);
#ifdef MUTANT_COUNT_FIRST
     taken++;
     returned_word = taken;
#endif
     i = 0;
     do /* the copy */
     :: i < units ->
        assert(ring[place + i] == number + 1);
        ring[place + i] = FREE;
        i++
     :: else -> break
     od;
#ifdef MUTANT_COUNT_BEFORE_RECEIVE
     taken++;
     returned_word = taken;
     told = taken;
     receives++
#else
     receives++;
#ifndef MUTANT_COUNT_FIRST
     taken++;
#endif
     if
     :: taken - told >= KEEP -> returned_word = taken; told = taken
     :: else
     fi
#endif
  :: else -> break
  od
}
