/**
 * @file
 * Start-up for AM-2 programs that are one program on every process (SPMD), which AM-2 leaves to the
 * system. The names are those that public AM-2 programs have for it. C89 and C++.
 */
#ifndef VIADUCT_AM_C_AM_SPMD_H
#define VIADUCT_AM_C_AM_SPMD_H

#include <am.h>

#ifdef __cplusplus
extern "C" {
#endif

/** AM_Init, then a bundle and an endpoint in it that knows those of all processes: index r is that
 *  of rank r. Each endpoint has a tag of its own, and no handlers: set them, then AMX_SPMDBarrier.
 *  argc and argv stay as they are (both may be null). networkdepth: as n_outstanding_requests of
 *  AM_SetExpectedResources; 0: no wish. networkpid: becomes a number that the processes of the job
 *  share; may be null.
 *  Blocks      until every process has called it.
 *  @return AM_OK, AM_ERR_BAD_ARG, AM_ERR_RESOURCE, AM_ERR_IN_USE (called before). After an error
 *          there is nothing to give back. */
int AMX_SPMDStartup(int* argc, char*** argv, int networkdepth, unsigned long* networkpid, eb_t* eb,
                    ep_t* ep);

/** @return the rank of this process; 0 before the first AM_Init or AMX_SPMDStartup. */
int AMX_SPMDMyProc(void);
/** @return the number of processes; 1 before the first AM_Init or AMX_SPMDStartup. */
int AMX_SPMDNumProcs(void);

/** Waits for all processes, handling messages. When it returns, the requests are handled that
 *  processes of this host have sent before their call to endpoints of the bundle of
 *  AMX_SPMDStartup. Requests to other bundles wait for AM_Poll. Requests of other hosts may still
 *  be on their way, and with VIADUCT_AM_GENERATION those of this host, too: wait for a reply.
 *  Blocks      until every process has called it, or another thread frees the endpoint of
 *              AMX_SPMDStartup (AM_ERR_NOT_INIT). This process has come to the barrier then, too.
 *  @return AM_OK, AM_ERR_NOT_INIT, AM_ERR_IN_USE, AM_ERR_RESOURCE (a process is gone). */
int AMX_SPMDBarrier(void);

/** len bytes of each process at source, by rank, to all processes at dest. With len 0 as
 *  AMX_SPMDBarrier.
 *  Blocks      until every process has called it, handling messages.
 *  @return as AMX_SPMDBarrier; AM_ERR_BAD_ARG. */
int AMX_SPMDAllGather(const void* source, void* dest, size_t len);

/** Ends the process with exitcode. With 0 it waits until all others are at their end, handling
 *  messages; with another one the launcher ends the job. In a handler, too: it then handles no
 *  further messages, and those come back to their senders with EBADENDPOINT.
 *  Blocks      with 0 until all others are at their end.
 *  @return never; AM_ERR_NOT_INIT. */
int AMX_SPMDExit(int exitcode);

/** callback hears of AMX_SPMDExit of this process, before it ends.  @return AM_OK. */
int AMX_SPMDSetExitCallback(void (*callback)(int));

/** @return 1: every process is one of the job. */
int AMX_SPMDIsWorker(char** argv);

/** @return the result of getenv() in this process. */
const char* AMX_SPMDgetenvMaster(const char* keyname);

/** Index of the sender in the endpoint's translation table, -1 if it has none: in handlers.
 *  @return AM_OK, AM_ERR_NOT_INIT, AM_ERR_BAD_ARG. */
int AMX_GetSourceId(void* token, int* index);

/** @return whether both name the same endpoint. */
int AMX_enEqual(en_t a, en_t b);

#ifdef __cplusplus
}
#endif

#endif
