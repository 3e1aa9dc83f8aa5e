/**
 * @file
 * AM-2, the C interface of Active Messages, as published (Mainwaring and Culler, Active Messages
 * Applications Programming Interface and Communication Subsystem Organization, 1995). docs/am2.md
 * lists the points that the paper leaves open, and the choices made here. C89 and C++.
 *
 * For all functions:
 * Errors      the result; misuse of a handle ends no program. AM_ERR_NOT_INIT: before AM_Init.
 *             AM_ERR_BAD_ARG: a null pointer, a handle of no living object, a value out of range.
 *             AM_ERR_IN_USE: a call that handlers may not make. A message that cannot be delivered
 *             comes back to handler 0 of its sender.
 * Call from   any thread; an AM_SEQ bundle and its endpoints from one thread at a time. While the
 *             process has one thread, a call takes no lock; afterwards each takes one. The second
 *             thread, where a handler makes it, calls only when the handler's call has returned.
 * Progress    requests, polls and waits; those that block serve every bundle of their thread.
 */
#ifndef VIADUCT_AM_C_AM_H
#define VIADUCT_AM_C_AM_H
#define _AM_H

#include <limits.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if ULONG_MAX == 0xffffffffUL
#error "AM-2 of Viaduct needs a 64-bit system"
#endif

/* Types. */

/** Endpoints (both spellings) and bundles. A handle that was freed names nothing for a long time.
 */
typedef struct viaduct_am_endpoint* ep_t;
typedef struct viaduct_am_endpoint* ea_t;
typedef struct viaduct_am_bundle* eb_t;

/** Name of an endpoint, the same in all processes of a job: plain data without padding, which may
 * be printed, compared by memcmp, and sent as two arguments. */
typedef struct {
  unsigned int ip_addr; /**< the process: its rank */
  unsigned int port;    /**< the endpoint in it */
} en_t;

/** Protection tag. */
typedef unsigned long tag_t;
#define AM_NONE ((tag_t)0) /**< accepts no sender; a new endpoint has it */
#define AM_ALL (~(tag_t)0) /**< accepts every sender */

/** Place in a handler table: messages name 1 to 255, 0 is the handler of returned messages. */
typedef int handler_t;
typedef void (*AM_Handler)(void);

/** The operation of a message, for the handler of returned messages. */
typedef int op_t;

/* Results. */

#define AM_OK 0
#define AM_ERR_NOT_INIT 1 /**< AM_Init has not been called */
#define AM_ERR_BAD_ARG 2  /**< an argument is wrong */
#define AM_ERR_RESOURCE 3 /**< no memory, no room in a table, or not in this state */
#define AM_ERR_NOT_SENT 4 /**< an asynchronous call would have had to wait */
#define AM_ERR_IN_USE 5   /**< the object is in use */
#define AM_ERR_NOT_TERM 6 /**< of old headers; never answered */

/* Kinds of bundles, and event masks. */

#define AM_SEQ 0 /**< one thread at a time */
#define AM_PAR 1 /**< any thread */
#define AM_NUM_BUNDLE_MODES 2

#define AM_NOEVENTS 0
#define AM_NOTEMPTY 1 /**< AM_WaitSema returns while there is a message */
#define AM_NUMEVENTMASKS 2

/* Returned messages: handler 0 is a void (*)(int status, op_t opcode, void *argblock). */

#define EBADARGS 1        /**< the handler takes other arguments; or its reply was refused */
#define EBADENTRY 2       /**< the index is not mapped */
#define EBADTAG 3         /**< the endpoint has another tag */
#define EBADHANDLER 4     /**< no such handler there */
#define EBADSEGOFF 5      /**< the offset lies outside the segment, or there is none */
#define EBADLENGTH 6      /**< the data reach beyond the segment's end */
#define EBADENDPOINT 7    /**< no such endpoint, or it has been freed */
#define ECONGESTION 8     /**< a connection could not be made; its reason was printed */
#define EUNREACHABLE 9    /**< the process is gone */
#define EREPLYREJECTED 10 /**< the requester could not take the reply */

#define AM_REQUEST_M 1
#define AM_REQUEST_IM 2
#define AM_REQUEST_XFER_M 3
#define AM_REPLY_M 4
#define AM_REPLY_IM 5
#define AM_REPLY_XFER_M 6
#define AM_GET_XFER_M 7

/** argblock: the facts about a returned message. The functions that take a token take an argblock
 * as well: the source is then the endpoint that the message was addressed to. */
typedef struct AM_ArgBlock {
  ep_t request_endpoint; /**< whose message it was */
  int reply_endpoint;    /**< index that it was sent to; -1: a reply to an endpoint without one */
  handler_t handler;     /**< -1: not known, as with EBADARGS for a refused reply */
  int numargs;
  int arg[16];
  size_t nbytes;      /**< of the data; 0 where that is not known */
  size_t dest_offset; /**< of an Xfer */
} AM_ArgBlock;

/* The system. */

/** Joins the job, with the first call; each further one needs one more AM_Terminate.
 *  Blocks      the first time in a process: until every process of the job has called it.
 *  @return AM_OK, AM_ERR_RESOURCE (a sentence on standard error says why). */
int AM_Init(void);

/** Frees all endpoints and bundles. Other processes no longer wait for this one once it has ended.
 *  Blocks      as AM_FreeEndpoint. Calls of other threads that wait answer AM_ERR_NOT_INIT.
 *  @return AM_OK, AM_ERR_NOT_INIT, AM_ERR_IN_USE (in a handler). */
int AM_Terminate(void);

/** Arguments of a message: 16.  @return the number. */
int AM_MaxShort(void);
/** Bytes of a medium message: 4096.  @return the number. */
int AM_MaxMedium(void);
/** Bytes of a transfer or get: 1048576.  @return the number. */
int AM_MaxLong(void);

/* Bundles. */

/** Makes a bundle. type: AM_SEQ or AM_PAR.
 *  @return AM_OK, AM_ERR_NOT_INIT, AM_ERR_BAD_ARG, AM_ERR_RESOURCE, AM_ERR_IN_USE. */
int AM_AllocateBundle(int type, eb_t* endb);

/** Frees a bundle and the endpoints that are in it. AM_WaitSema of another thread on it ends with
 *  AM_ERR_BAD_ARG.
 *  Blocks      as AM_FreeEndpoint.
 *  @return AM_OK, AM_ERR_NOT_INIT, AM_ERR_BAD_ARG, AM_ERR_IN_USE. */
int AM_FreeBundle(eb_t bundle);

/** Runs the handlers of messages that have come.
 *  Blocks      never for a message; while a handler waits for room for its reply, or a transfer of
 *              a handler for its receiver to copy the data.
 *  @return AM_OK, AM_ERR_NOT_INIT, AM_ERR_BAD_ARG, AM_ERR_IN_USE. */
int AM_Poll(eb_t bundle);

/** AM_NOEVENTS, with which a bundle begins, or AM_NOTEMPTY; stays set.
 *  @return AM_OK, AM_ERR_NOT_INIT, AM_ERR_BAD_ARG. */
int AM_SetEventMask(eb_t bundle, int mask);

/** @return AM_OK, AM_ERR_NOT_INIT, AM_ERR_BAD_ARG. The form with one argument answers the mask, or
 * -1. */
int AM_GetEventMask(eb_t bundle, int* mask);

/** Waits until there is a request for AM_Poll, or replies and returned messages have been handled,
 *  which it does itself. Returns at once when a request's own poll has run handlers since the last
 *  AM_Poll or AM_WaitSema; in a process with several threads also, once, when AM_Poll has run some.
 *  Blocks      in the kernel after a while; wakes within microseconds.
 *  @return AM_OK, AM_ERR_NOT_INIT, AM_ERR_BAD_ARG, AM_ERR_RESOURCE (the mask is AM_NOEVENTS),
 *          AM_ERR_IN_USE. */
int AM_WaitSema(eb_t bundle);
/** The same under its old name.  @return as AM_WaitSema. */
int AM_Wait(eb_t bundle);

/* Endpoints. */

/** Makes an endpoint in the bundle: tag AM_NONE, no segment, 1024 translations or one for each
 *  process. Old forms have no name, or take a pointer to a pointer to it.
 *  @return AM_OK, AM_ERR_NOT_INIT, AM_ERR_BAD_ARG, AM_ERR_RESOURCE (no memory, or more than 4095
 *          endpoints of the process at a time), AM_ERR_IN_USE. */
int AM_AllocateEndpoint(eb_t bundle, ep_t* endp, en_t* endpoint_name);

/** The same with a port of one's own choice, 0 to 65535, by which others know it beforehand.
 *  @return as AM_AllocateEndpoint; AM_ERR_IN_USE: this process has an endpoint with that port. */
int AM_AllocateKnownEndpoint(eb_t bundle, ep_t* endp, en_t* endpoint_name, int port);

/** Frees an endpoint. Requests that it has not handled go back with EBADENDPOINT. A request, get or
 *  AM_UnMap of another thread that waits in a call on it ends with AM_ERR_BAD_ARG; the message may
 *  have been sent or not.
 *  Blocks      while other threads are in calls on it, or in a handler of it whose reply waits for
 *              room; handles replies meanwhile.
 *  @return AM_OK, AM_ERR_NOT_INIT, AM_ERR_BAD_ARG, AM_ERR_IN_USE. */
int AM_FreeEndpoint(ep_t ea);

/** Takes an endpoint to another bundle, with all that is under way.
 *  @return AM_OK, AM_ERR_NOT_INIT, AM_ERR_BAD_ARG (also: not in from_bundle), AM_ERR_IN_USE. */
int AM_MoveEndpoint(ep_t ea, eb_t from_bundle, eb_t to_bundle);

/** A hint. n_endpoints: peers; n_outstanding_requests: to all of them.
 *  @return AM_OK, AM_ERR_NOT_INIT, AM_ERR_BAD_ARG (negative), AM_ERR_RESOURCE (more endpoints than
 *          translations). */
int AM_SetExpectedResources(ep_t ea, int n_endpoints, int n_outstanding_requests);

/** When the call returns, messages are no longer accepted from senders that have mapped this
 * endpoint under another tag.
 *  @return AM_OK, AM_ERR_NOT_INIT, AM_ERR_BAD_ARG. */
int AM_SetTag(ep_t ea, tag_t tag);
/** @return AM_OK, AM_ERR_NOT_INIT, AM_ERR_BAD_ARG. */
int AM_GetTag(ep_t ea, tag_t* tag);

/** The memory that Xfers write to and gets read from. 0 bytes: none. Where the process may only read
 *  the memory, Xfers come back with EBADSEGOFF.
 *  Precondition: no Xfer to the segment before and no get is under way.
 *  @return AM_OK, AM_ERR_NOT_INIT, AM_ERR_BAD_ARG, AM_ERR_RESOURCE (cannot be registered). */
int AM_SetSeg(ep_t ea, void* addr, size_t nbytes);
/** addr: of a pointer. nbytes: of a size_t, or of an int, as in old programs.
 *  @return AM_OK, AM_ERR_NOT_INIT, AM_ERR_BAD_ARG. */
int AM_GetSeg(ep_t ea, void* addr, size_t* nbytes);
/** Largest segment: of a size_t, or of an int.  @return AM_OK, AM_ERR_BAD_ARG. */
int AM_MaxSegLength(size_t* nbytes);

/* Translations. */

/** index means the endpoint name under tag. No communication.
 *  @return AM_OK, AM_ERR_NOT_INIT, AM_ERR_BAD_ARG (also: no such process), AM_ERR_IN_USE (the index
 *          is mapped, or another index maps that endpoint under another tag). */
int AM_Map(ep_t ea, int index, en_t name, tag_t tag);
/** The same with the lowest free index, which *index tells.
 *  @return as AM_Map; AM_ERR_RESOURCE: the table is full. */
int AM_MapAny(ep_t ea, int* index, en_t name, tag_t tag);
/** Waits until all requests to the index are answered or have come back, and forgets it.
 *  @return AM_OK, AM_ERR_NOT_INIT, AM_ERR_BAD_ARG (also: not mapped), AM_ERR_IN_USE. */
int AM_UnMap(ep_t ea, int index);
/** The same under its other name.  @return as AM_UnMap. */
int AM_Unmap(ep_t ea, int index);
/** Whether the index is mapped.
 *  @return AM_OK: it is; AM_ERR_RESOURCE: it is not; AM_ERR_NOT_INIT, AM_ERR_BAD_ARG. */
int AM_GetTranslationInuse(ep_t ea, int index);
/** @return AM_OK, AM_ERR_NOT_INIT, AM_ERR_BAD_ARG, AM_ERR_RESOURCE (not mapped). */
int AM_GetTranslationTag(ep_t ea, int index, tag_t* tag);
/** @return AM_OK, AM_ERR_NOT_INIT, AM_ERR_BAD_ARG, AM_ERR_RESOURCE (not mapped). */
int AM_GetTranslationName(ep_t ea, int index, en_t* name);
/** Largest table: 65536.  @return AM_OK, AM_ERR_BAD_ARG. */
int AM_MaxNumTranslations(int* ntrans);
/** @return AM_OK, AM_ERR_NOT_INIT, AM_ERR_BAD_ARG. */
int AM_GetNumTranslations(ep_t ea, int* ntrans);
/** Grows or shrinks the table.
 *  @return AM_OK, AM_ERR_NOT_INIT, AM_ERR_BAD_ARG, AM_ERR_RESOURCE (above AM_MaxNumTranslations, or
 *          an index beyond is mapped). */
int AM_SetNumTranslations(ep_t ea, int ntrans);

/* Handlers: void f(void *token, ...) with as many ints as the message has; of medium messages,
   Xfers and gets: void f(void *token, void *buf, int nbytes, ...). Handlers, also handler 0, run
   while their thread holds a lock of the interface: a handler must not wait for a lock that another
   thread holds in a call. */

/** Puts a handler into the table; of handler 0 see above.
 *  @return AM_OK, AM_ERR_NOT_INIT, AM_ERR_BAD_ARG. */
int AM_SetHandler(ep_t ea, handler_t handler, AM_Handler function);
/** The same at the lowest free place from 1 on, which *handler tells.
 *  @return as AM_SetHandler; AM_ERR_RESOURCE: the table is full. */
int AM_SetHandlerAny(ep_t ea, handler_t* handler, AM_Handler function);
/** AM_SetHandler for a handler with declared arguments (an addition to AM-2): numargs ints, and
 * data (a medium message, an Xfer, a get) where with_data is not 0. Requests with another number of
 * arguments or of the other kind come back to their senders with EBADARGS, replies to their
 * repliers with EREPLYREJECTED.
 *  @return as AM_SetHandler; AM_ERR_BAD_ARG also for handler 0 and above AM_MaxShort(). */
int AM_SetHandlerArgs(ep_t ea, handler_t handler, AM_Handler function, int with_data, int numargs);
/** @return AM_OK, AM_ERR_NOT_INIT, AM_ERR_BAD_ARG. */
int AM_GetNumHandlers(ep_t ea, int* n_handlers);
/** Size of the table, 1 to 256; handlers beyond it are dropped.
 *  @return AM_OK, AM_ERR_NOT_INIT, AM_ERR_BAD_ARG, AM_ERR_RESOURCE (above AM_MaxNumHandlers). */
int AM_SetNumHandlers(ep_t ea, int n_handlers);
/** Largest handler table: 256.  @return the number. */
int AM_MaxNumHandlers(void);

/* Of the message that a handler runs for; its token is good until the handler returns. */

/** The sender.  @return AM_OK, AM_ERR_NOT_INIT, AM_ERR_BAD_ARG. */
int AM_GetSourceEndpoint(void* token, en_t* name);
/** The endpoint that the message came to.  @return AM_OK, AM_ERR_NOT_INIT, AM_ERR_BAD_ARG. */
int AM_GetDestEndpoint(void* token, ep_t* endp);
/** The tag that came with it.  @return AM_OK, AM_ERR_NOT_INIT, AM_ERR_BAD_ARG. */
int AM_GetMsgTag(void* token, tag_t* tag);

/* Messages of M = 0 to 16 arguments: AM_RequestM, AM_RequestIM, ... are AM_Request0 to AM_Request16
   and so on. Requests go to index reply_endpoint of request_endpoint, outside handlers. */

#define VIADUCT_AM_P0
#define VIADUCT_AM_P1 VIADUCT_AM_P0, int arg0
#define VIADUCT_AM_P2 VIADUCT_AM_P1, int arg1
#define VIADUCT_AM_P3 VIADUCT_AM_P2, int arg2
#define VIADUCT_AM_P4 VIADUCT_AM_P3, int arg3
#define VIADUCT_AM_P5 VIADUCT_AM_P4, int arg4
#define VIADUCT_AM_P6 VIADUCT_AM_P5, int arg5
#define VIADUCT_AM_P7 VIADUCT_AM_P6, int arg6
#define VIADUCT_AM_P8 VIADUCT_AM_P7, int arg7
#define VIADUCT_AM_P9 VIADUCT_AM_P8, int arg8
#define VIADUCT_AM_P10 VIADUCT_AM_P9, int arg9
#define VIADUCT_AM_P11 VIADUCT_AM_P10, int arg10
#define VIADUCT_AM_P12 VIADUCT_AM_P11, int arg11
#define VIADUCT_AM_P13 VIADUCT_AM_P12, int arg12
#define VIADUCT_AM_P14 VIADUCT_AM_P13, int arg13
#define VIADUCT_AM_P15 VIADUCT_AM_P14, int arg14
#define VIADUCT_AM_P16 VIADUCT_AM_P15, int arg15

/** AM_RequestM: a short request.
 *  Blocks      until there is room, handling messages.
 *  Order       requests of one endpoint to one other are handled in call order.
 *  @return AM_OK, AM_ERR_NOT_INIT, AM_ERR_BAD_ARG, AM_ERR_IN_USE. */
#define VIADUCT_AM_REQUEST(M) \
  int AM_Request##M(ep_t request_endpoint, int reply_endpoint, handler_t handler VIADUCT_AM_P##M);
/** AM_RequestIM: a medium request; the data are copied before the call returns.
 *  Blocks, Order  as AM_RequestM.
 *  @return as AM_RequestM; AM_ERR_BAD_ARG: above AM_MaxMedium(), or null. */
#define VIADUCT_AM_REQUEST_I(M)                                                    \
  int AM_RequestI##M(ep_t request_endpoint, int reply_endpoint, handler_t handler, \
                     const void* source_addr, size_t nbytes VIADUCT_AM_P##M);
/** AM_RequestXferM: the data lie at dest_offset of the receiver's segment before the handler runs.
 *  The source may be changed when the call returns.
 *  Blocks, Order  as AM_RequestM.
 *  @return as AM_RequestM; AM_ERR_BAD_ARG: above AM_MaxLong(), or null. */
#define VIADUCT_AM_REQUEST_XFER(M)                                                     \
  int AM_RequestXfer##M(ep_t request_endpoint, int reply_endpoint, size_t dest_offset, \
                        handler_t handler, const void* source_addr,                    \
                        size_t nbytes VIADUCT_AM_P##M);
/** AM_RequestXferAsyncM: the same without waiting for room.
 *  Blocks      never for room; while a receiver that has begun to copy the data does so, and as
 *              AM_Poll.
 *  @return as AM_RequestXferM; AM_ERR_NOT_SENT: nothing happened, try again. */
#define VIADUCT_AM_REQUEST_XFER_ASYNC(M)                                                    \
  int AM_RequestXferAsync##M(ep_t request_endpoint, int reply_endpoint, size_t dest_offset, \
                             handler_t handler, const void* source_addr,                    \
                             size_t nbytes VIADUCT_AM_P##M);
/** AM_ReplyM: a short reply, once in a request's handler.
 *  @return AM_OK, AM_ERR_NOT_INIT, AM_ERR_BAD_ARG (also: the second reply, or a reply's token). */
#define VIADUCT_AM_REPLY(M) int AM_Reply##M(void* token, handler_t handler VIADUCT_AM_P##M);
/** AM_ReplyIM: a medium reply.
 *  @return as AM_ReplyM; AM_ERR_BAD_ARG: above AM_MaxMedium(), or null. The handler may then reply
 *          once more; else the request goes back with EBADARGS. */
#define VIADUCT_AM_REPLY_I(M)                                               \
  int AM_ReplyI##M(void* token, handler_t handler, const void* source_addr, \
                   size_t nbytes VIADUCT_AM_P##M);
/** AM_ReplyXferM: a reply with data into the requester's segment.
 *  @return as AM_ReplyIM, with AM_MaxLong(). */
#define VIADUCT_AM_REPLY_XFER(M)                                                                   \
  int AM_ReplyXfer##M(void* token, size_t dest_offset, handler_t handler, const void* source_addr, \
                      size_t nbytes VIADUCT_AM_P##M);
/** AM_GetXferM: fetches nbytes at source_offset of the other's segment to dest_offset of the own
 * one, or to an address (a pointer as dest_offset, outside C89), and runs handler here, as a
 * reply's. Blocks      as AM_RequestM.
 *  @return AM_OK, AM_ERR_NOT_INIT, AM_ERR_BAD_ARG (also: not in the own segment), AM_ERR_IN_USE. */
#define VIADUCT_AM_GET_XFER(M)                                                       \
  int AM_GetXfer##M(ep_t request_endpoint, int reply_endpoint, size_t source_offset, \
                    handler_t handler, size_t dest_offset, size_t nbytes VIADUCT_AM_P##M);
/** AM_GetXferAsyncM: the same without waiting for a connection.
 *  Blocks      as AM_Poll.
 *  @return as AM_GetXferM; AM_ERR_NOT_SENT: nothing happened, try again. */
#define VIADUCT_AM_GET_XFER_ASYNC(M)                                                      \
  int AM_GetXferAsync##M(ep_t request_endpoint, int reply_endpoint, size_t source_offset, \
                         handler_t handler, size_t dest_offset, size_t nbytes VIADUCT_AM_P##M);

#define VIADUCT_AM_FORMS(M)        \
  VIADUCT_AM_REQUEST(M)            \
  VIADUCT_AM_REQUEST_I(M)          \
  VIADUCT_AM_REQUEST_XFER(M)       \
  VIADUCT_AM_REQUEST_XFER_ASYNC(M) \
  VIADUCT_AM_REPLY(M)              \
  VIADUCT_AM_REPLY_I(M)            \
  VIADUCT_AM_REPLY_XFER(M)         \
  VIADUCT_AM_GET_XFER(M)           \
  VIADUCT_AM_GET_XFER_ASYNC(M)
/* clang-format off */
#define VIADUCT_AM_ALL_FORMS(EACH) \
  EACH(0) EACH(1) EACH(2) EACH(3) EACH(4) EACH(5) EACH(6) EACH(7) EACH(8) \
  EACH(9) EACH(10) EACH(11) EACH(12) EACH(13) EACH(14) EACH(15) EACH(16)
/* clang-format on */
VIADUCT_AM_ALL_FORMS(VIADUCT_AM_FORMS)
#undef VIADUCT_AM_FORMS

#ifdef __cplusplus
}
#endif

#include <am_old.h> /* other forms of the same calls */

#endif
