/* split-c/machines.h: what programs took from the machines of the time besides Split-C.
 *
 * What has a meaning here works: numbers of processes, barriers, clocks, reductions, shmem_put and
 * shmem_get, the exchanges of MPL among all processes. What has none and does no harm (modes of standard
 * streams, cache control, the host of a CM-5) does nothing; where a program might have counted on
 * it, process 0 says so once. All else, sends and receives above all, ends the job with a sentence
 * when it is called. Programs find this by the names that the machines had: <cm/cmmd.h>,
 * <mpproto.h>, <nx.h>, <mpp/shmem.h>, <elan/elan.h>, <cm5/host.h>; and split-c.h brings the part of the machine that the
 * program is compiled for, by -DCM5, -DSP1, -DSP2, -DPARAGON, -DT3D, -DMEIKO or -DCS2, as that machine's did.
 */
#ifndef SPLIT_C_MACHINES_H
#define SPLIT_C_MACHINES_H

#include <split-c/cmmd.h>
#include <split-c/elan.h>
#include <split-c/mpl.h>
#include <split-c/nx.h>
#include <split-c/shmem.h>

#endif
