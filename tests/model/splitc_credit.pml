/* The credits of Split-C's messages (docs/splitc.md, Credits). Two processes send each other REQUESTS requests, with at
 * most K credits. The receiver answers a request with a line of the ring or by its count alone, as the sender chooses.
 * A process looks for credits, polls and publishes its count at any time. Checked: a reply finds a line of the ring at
 * once, and no process is stuck.
 *
 * Parameters  K credits, R lines given back at a time, S lines of a ring, REQUESTS of each process. The code has a line
 *             more than S.
 *
 * Memory order (x86): a reply is written before the count of its request, and is seen before it.
 *
 * MUTANT_COUNT_ALONE: credits are back by the owner's count alone. WITNESS_FULL: a reply takes the last line.
 */
#ifndef K
#define K 1
#endif
#ifndef R
#define R 1
#endif
#ifndef S
#define S (2 * K + R - 1)
#endif
#ifndef REQUESTS
#define REQUESTS 3
#endif

#define OTHER (1 - _pid)

/* A line: whether a reply, whether a request is answered, the number of the request. */
chan ring[2] = [S] of { bit, bit, byte } /* to each process */
byte used[2];     /* lines to each process that are not given back */
byte kept[2];     /* of these, the ones that it has taken */
byte sent[2];     /* requests */
byte limit[2];    /* sent may rise to it */
byte asked[2];    /* the last request that a reply answers */
byte replied[2];  /* the request of the last reply that was taken */
byte served[2];   /* requests of the other process */
byte counted[2];  /* the same, as published */

inline take_line() {
  kept[_pid]++;
  if
  :: kept[_pid] == R -> used[_pid] = used[_pid] - R; kept[_pid] = 0
  :: else
  fi
}

active [2] proctype process() {
  bit reply, answered;
  byte number, back;
  limit[_pid] = K;
end:
  do
  :: atomic { /* a request */
       sent[_pid] < REQUESTS && sent[_pid] < limit[_pid] && used[OTHER] < S ->
       sent[_pid]++;
       used[OTHER]++;
       if
       :: asked[_pid] = sent[_pid]; ring[OTHER]!0, 1, sent[_pid]
       :: ring[OTHER]!0, 0, sent[_pid]
       fi
     }
  :: atomic { /* a look for credits, where all are used */
       sent[_pid] < REQUESTS && sent[_pid] == limit[_pid] ->
#ifdef MUTANT_COUNT_ALONE
       back = counted[OTHER];
#else
       back = (replied[_pid] < asked[_pid] -> replied[_pid] : counted[OTHER]);
#endif
       limit[_pid] = (back + K > limit[_pid] -> back + K : limit[_pid])
     }
  :: atomic { /* a poll; the line is given back behind its handler */
       ring[_pid]?reply, answered, number ->
       if
       :: reply -> assert(number > replied[_pid] && number <= sent[_pid]); replied[_pid] = number
       :: else ->
          served[_pid]++;
          assert(served[_pid] == number);
          if
          :: answered ->
             assert(used[OTHER] < S);
             used[OTHER]++;
#ifdef WITNESS_FULL
             assert(used[OTHER] < S);
#endif
             ring[OTHER]!1, 0, number
          :: else
          fi
       fi
     }
     atomic { take_line() }
  :: atomic { counted[_pid] < served[_pid] -> counted[_pid] = served[_pid] }
  :: atomic { /* the end */
       sent[_pid] == REQUESTS && counted[OTHER] == REQUESTS && replied[_pid] >= asked[_pid] && served[_pid] == REQUESTS ->
       break
     }
  od
}
