/* split-c/machines.h: the libraries that programs used on the machines of the time besides Split-C.
 *
 * Calls that have a meaning here work: numbers of processes, barriers, clocks, reductions, shmem_put and
 * shmem_get, the exchanges of MPL among all processes. Calls that have none and do no harm (modes of standard
 * streams, cache control, the host of a CM-5) do nothing; where a program might have counted on an
 * effect, process 0 says so once. All other calls, sends and receives above all, end the job with a sentence.
 * Programs find these headers by the names that the machines had: <cm/cmmd.h>,
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
