/* split-c/nx.h: NX, the library that programs used on the Paragon; split-c/machines.h says how it works here.
 */
#ifndef SPLIT_C_NX_H
#define SPLIT_C_NX_H

#include <split-c/split-c.h>

#ifdef __cplusplus
extern "C" {
#endif

long mynode(void);
long numnodes(void);
void gsync(void);
double dclock(void); /* seconds */
/* Collective: n numbers of all processes, the results in their place in all. */
void gdsum(double* x, long n, double* work), gdprod(double* x, long n, double* work);
void gdhigh(double* x, long n, double* work), gdlow(double* x, long n, double* work);

#ifdef __cplusplus
}
#else
/* These end the job with a sentence. */
int csend(), crecv(), isend(), irecv(), msgwait(), msgdone(), hrecv(), iprobe(), cprobe(),
    gisum(), gihigh(), gilow(), gcolx();
#endif

#endif
