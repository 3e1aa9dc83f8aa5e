/**
 * @file
 * VIPL, the C interface of the Virtual Interface Architecture, on any provider of Viaduct. Names,
 * layouts and values are those of the developer's guide 1.0; docs/vipl.md says what the guide
 * leaves open and what was chosen. C89 and C++.
 *
 * Rules for all functions:
 * Errors      the result; nothing is thrown, and no misuse of a handle ends the program.
 *             VIP_INVALID_PARAMETER: a null pointer, or a handle of no living object of its kind.
 * Call from   any thread, and from every callback. One thread alone pays for no lock; once a second
 *             thread has called, each call takes one.
 * Progress    every call that looks at a queue or a connection moves all of the process on.
 * Callbacks   run without a lock, one at a time: error callbacks in the call, or in the thread of
 *             the library, that noticed the error; notifications in the thread of the library.
 * Times       are in milliseconds; VIP_INFINITE is no limit.
 */
#ifndef VIADUCT_VIA_VIPL_H
#define VIADUCT_VIA_VIPL_H
#define _VIPL_ 1
#define _VIPL_H 1

#include <limits.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef IN
#define IN
#endif
#ifndef OUT
#define OUT
#endif

/* Types. */
typedef void* VIP_PVOID;
typedef int VIP_BOOLEAN;
typedef char VIP_CHAR;
typedef short VIP_SHORT;
typedef long VIP_LONG;
typedef unsigned char VIP_UCHAR;
typedef unsigned short VIP_USHORT;
typedef unsigned long VIP_ULONG;
#if ULONG_MAX == 0xffffffffUL
#error "VIPL of Viaduct needs a 64-bit system"
#endif
typedef unsigned long VIP_UINT64;
typedef unsigned int VIP_UINT32;
typedef unsigned short VIP_UINT16;
typedef unsigned char VIP_UINT8;

#define VIP_TRUE (1)
#define VIP_FALSE (0)

/** No time limit. 0xFFFFFFFF, which is the same where longs have 32 bits, is taken as none, too. */
#define VIP_INFINITE (~(VIP_ULONG)0)

/** Handles name objects and are no addresses. A released handle is not used again soon. */
typedef VIP_PVOID VIP_NIC_HANDLE;
typedef VIP_PVOID VIP_VI_HANDLE;
typedef VIP_PVOID VIP_CQ_HANDLE;
typedef VIP_PVOID VIP_PROTECTION_HANDLE;
typedef VIP_PVOID VIP_CONN_HANDLE;
typedef VIP_UINT32 VIP_MEM_HANDLE;

/** Quality of service: none is defined, so that it must be null. */
typedef VIP_PVOID VIP_QOS;

typedef enum {
  VIP_SUCCESS,
  VIP_NOT_DONE,
  VIP_INVALID_PARAMETER,
  VIP_ERROR_RESOURCE,
  VIP_TIMEOUT,
  VIP_REJECT,
  VIP_INVALID_RELIABILITY_LEVEL,
  VIP_INVALID_MTU,
  VIP_INVALID_QOS,
  VIP_INVALID_PTAG,
  VIP_INVALID_RDMAREAD,
  VIP_DESCRIPTOR_ERROR,
  VIP_INVALID_STATE,
  VIP_ERROR_NAMESERVICE,
  VIP_NO_MATCH,
  VIP_NOT_REACHABLE,
  VIP_ERROR_NOT_SUPPORTED,
  VIP_ERROR
} VIP_RETURN;

/** HostAddressLen bytes of host, then DiscriminatorLen of discriminator: the program makes room. */
typedef struct _VIP_NET_ADDRESS {
  VIP_UINT16 HostAddressLen;
  VIP_UINT16 DiscriminatorLen;
  VIP_UINT8 HostAddress[1];
} VIP_NET_ADDRESS;

/** Bits: a VI has one, a NIC those that it offers. */
typedef VIP_USHORT VIP_RELIABILITY_LEVEL;
#define VIP_SERVICE_UNRELIABLE 0x01
#define VIP_SERVICE_RELIABLE_DELIVERY 0x02
#define VIP_SERVICE_RELIABLE_RECEPTION 0x04

typedef struct _VIP_NIC_ATTRIBUTES {
  VIP_CHAR Name[64];
  VIP_ULONG HardwareVersion;
  VIP_ULONG ProviderVersion;
  VIP_UINT16 NicAddressLen;
  const VIP_UINT8* LocalNicAddress; /**< lives as long as the NIC is open */
  VIP_BOOLEAN ThreadSafe;
  VIP_UINT16 MaxDiscriminatorLen;
  VIP_ULONG MaxRegisterBytes;
  VIP_ULONG MaxRegisterRegions;
  VIP_ULONG MaxRegisterBlockBytes;
  VIP_ULONG MaxVI;
  VIP_ULONG MaxDescriptorsPerQueue;
  VIP_ULONG MaxSegmentsPerDesc; /**< data segments; the address segment of RDMA is one more */
  VIP_ULONG MaxCQ;
  VIP_ULONG MaxCQEntries;
  VIP_ULONG MaxTransferSize; /**< bytes of one descriptor */
  VIP_ULONG NativeMTU;
  VIP_ULONG MaxPtags;
  VIP_RELIABILITY_LEVEL ReliabilityLevelSupport;
  VIP_RELIABILITY_LEVEL RDMAReadSupport; /**< levels at which RDMA reads work */
} VIP_NIC_ATTRIBUTES;

/* Descriptors: a control segment, for RDMA an address segment, then data segments. They live in
   registered memory, aligned, and belong to the VI from the post until a call hands them over. */

#define VIP_DESCRIPTOR_ALIGNMENT 64

struct _VIP_DESCRIPTOR;

typedef union {
  VIP_UINT64 AddressBits;
  VIP_PVOID Address;
  struct _VIP_DESCRIPTOR* Descriptor; /**< of Next */
} VIP_PVOID64;

typedef struct {
  VIP_PVOID64 Next;
  VIP_MEM_HANDLE NextHandle;
  VIP_UINT16 SegCount; /**< address and data segments */
  VIP_UINT16 Control;
  VIP_UINT32 Reserved; /**< zero */
  VIP_UINT32 ImmediateData;
  VIP_UINT32 Length; /**< sends: sum of the data segments; then: bytes transferred, unless failed */
  VIP_UINT32 Status; /**< zero while posted */
} VIP_CONTROL_SEGMENT;

typedef struct {
  VIP_PVOID64 Data;
  VIP_MEM_HANDLE Handle;
  VIP_UINT32 Reserved;
} VIP_ADDRESS_SEGMENT;

typedef struct {
  VIP_PVOID64 Data;
  VIP_MEM_HANDLE Handle;
  VIP_UINT32 Length;
} VIP_DATA_SEGMENT;

typedef union {
  VIP_ADDRESS_SEGMENT Remote;
  VIP_DATA_SEGMENT Local;
} VIP_DESCRIPTOR_SEGMENT;

/* Both names of each part: programs for Giganet's cLAN have Control and Data. An initializer with
   all its braces needs one more pair around each part. */
#ifdef __GNUC__
#define VIADUCT_VIPL_EXTENSION __extension__
#else
#define VIADUCT_VIPL_EXTENSION
#endif
VIADUCT_VIPL_EXTENSION typedef struct _VIP_DESCRIPTOR {
  VIADUCT_VIPL_EXTENSION union {
    VIP_CONTROL_SEGMENT CS;
    VIP_CONTROL_SEGMENT Control;
  };
  VIADUCT_VIPL_EXTENSION union {
    VIP_DESCRIPTOR_SEGMENT DS[2]; /**< more may follow in memory */
    VIP_DATA_SEGMENT Data[2];
  };
} VIP_DESCRIPTOR;

#define VIP_CONTROL_OP_SENDRECV 0x0000
#define VIP_CONTROL_OP_RDMAWRITE 0x0001
#define VIP_CONTROL_OP_RDMAREAD 0x0002
#define VIP_CONTROL_OP_RESERVED 0x0003
#define VIP_CONTROL_OP_MASK 0x0003
#define VIP_CONTROL_IMMEDIATE 0x0004
#define VIP_CONTROL_QFENCE 0x0008
#define VIP_CONTROL_RESERVED 0xFFF0

#define VIP_STATUS_DONE 0x00000001
#define VIP_STATUS_FORMAT_ERROR 0x00000002
#define VIP_STATUS_PROTECTION_ERROR 0x00000004
#define VIP_STATUS_LENGTH_ERROR 0x00000008
#define VIP_STATUS_PARTIAL_ERROR 0x00000010
#define VIP_STATUS_DESC_FLUSHED_ERROR 0x00000020
#define VIP_STATUS_TRANSPORT_ERROR 0x00000040
#define VIP_STATUS_RDMA_PROT_ERROR 0x00000080
#define VIP_STATUS_REMOTE_DESC_ERROR 0x00000100
#define VIP_STATUS_ERROR_MASK 0x000001FE
#define VIP_STATUS_OP_SEND 0x00000000
#define VIP_STATUS_OP_RECEIVE 0x00010000
#define VIP_STATUS_OP_RDMA_WRITE 0x00020000
#define VIP_STATUS_OP_REMOTE_RDMA_WRITE 0x00030000
#define VIP_STATUS_OP_RDMA_READ 0x00040000
#define VIP_STATUS_OP_MASK 0x00070000
#define VIP_STATUS_IMMEDIATE 0x00080000
#define VIP_STATUS_RESERVED 0xFFF0FE00

/* Virtual interfaces. */
typedef enum {
  VIP_STATE_IDLE,
  VIP_STATE_CONNECTED,
  VIP_STATE_CONNECT_PENDING,
  VIP_STATE_ERROR
} VIP_VI_STATE;

typedef struct _VIP_VI_ATTRIBUTES {
  VIP_RELIABILITY_LEVEL ReliabilityLevel;
  VIP_ULONG MaxTransferSize; /**< bytes of one descriptor; 0: the NIC's */
  VIP_QOS QoS;
  VIP_PROTECTION_HANDLE Ptag;  /**< of a remote VI: null */
  VIP_BOOLEAN EnableRdmaWrite; /**< whether the peer may */
  VIP_BOOLEAN EnableRdmaRead;
} VIP_VI_ATTRIBUTES;

typedef struct _VIP_MEM_ATTRIBUTES {
  VIP_PROTECTION_HANDLE Ptag;
  VIP_BOOLEAN EnableRdmaWrite; /**< whether peers may */
  VIP_BOOLEAN EnableRdmaRead;
} VIP_MEM_ATTRIBUTES;

/* Asynchronous errors. */
typedef enum _VIP_ERROR_CODE {
  VIP_ERROR_POST_DESC,
  VIP_ERROR_CONN_LOST,
  VIP_ERROR_RECVQ_EMPTY,
  VIP_ERROR_VI_OVERRUN,
  VIP_ERROR_RDMAW_PROT,
  VIP_ERROR_RDMAW_DATA,
  VIP_ERROR_RDMAW_ABORT,
  VIP_ERROR_RDMAR_PROT,
  VIP_ERROR_COMP_PROT,
  VIP_ERROR_RDMA_TRANSPORT,
  VIP_ERROR_CATASTROPHIC
} VIP_ERROR_CODE;

typedef enum _VIP_RESOURCE_CODE {
  VIP_RESOURCE_NIC,
  VIP_RESOURCE_VI,
  VIP_RESOURCE_CQ,
  VIP_RESOURCE_DESCRIPTOR
} VIP_RESOURCE_CODE;

typedef struct _VIP_ERROR_DESCRIPTOR {
  VIP_NIC_HANDLE NicHandle;
  VIP_VI_HANDLE ViHandle;
  VIP_CQ_HANDLE CQHandle;
  VIP_DESCRIPTOR* DescriptorPtr;
  VIP_ULONG OpCode;
  VIP_RESOURCE_CODE ResourceCode;
  VIP_ERROR_CODE ErrorCode;
} VIP_ERROR_DESCRIPTOR;

/* System management. */
#define VIP_SMI_AUTODISCOVERY ((VIP_ULONG)1)

/** ADAddrArray: pointers to NumAdAddrs addresses of the program's, with room for a host address. */
typedef struct {
  VIP_ULONG NumberOfHops;
  VIP_NET_ADDRESS** ADAddrArray;
  VIP_ULONG NumAdAddrs;
} VIP_AUTODISCOVERY_LIST;

/* NICs. */

/** Opens a NIC. DeviceName: a provider ("shm", "verbs", "verbs:mlx5_0"), or a name that devices had
 *  ("/dev/via_eth0", "nic0", "VINIC", one of VIADUCT_VIPL_DEVICES) for that of VIADUCT_PROVIDER.
 *  Blocks      the first time: until every process of the job has opened one.
 *  @return VIP_SUCCESS, VIP_INVALID_PARAMETER (also: no such device), VIP_ERROR_RESOURCE (standard
 *          error says why). */
VIP_RETURN VipOpenNic(IN const VIP_CHAR* DeviceName, OUT VIP_NIC_HANDLE* NicHandle);

/** Closes a NIC and what is left of it: VIs are disconnected, memory is deregistered.
 *  @return VIP_SUCCESS, VIP_INVALID_PARAMETER. */
VIP_RETURN VipCloseNic(IN VIP_NIC_HANDLE NicHandle);

/** @return VIP_SUCCESS, VIP_INVALID_PARAMETER. */
VIP_RETURN VipQueryNic(IN VIP_NIC_HANDLE NicHandle, OUT VIP_NIC_ATTRIBUTES* NicAttribs);

/** VIP_SMI_AUTODISCOVERY with a VIP_AUTODISCOVERY_LIST: the addresses of all processes of the job,
 *  whose number NumAdAddrs becomes.
 *  @return VIP_SUCCESS, VIP_INVALID_PARAMETER, VIP_ERROR_RESOURCE (the array is too short),
 *          VIP_ERROR_NOT_SUPPORTED (another InfoType). */
VIP_RETURN VipQuerySystemManagementInfo(IN VIP_NIC_HANDLE NicHandle, IN VIP_ULONG InfoType,
                                        OUT VIP_PVOID SysManInfo);

/* The types of handlers. */
typedef void (*VIP_ERROR_HANDLER)(VIP_PVOID Context, VIP_ERROR_DESCRIPTOR* ErrorDesc);
typedef void (*VIP_VI_CALLBACK)(VIP_PVOID Context, VIP_NIC_HANDLE NicHandle, VIP_VI_HANDLE ViHandle,
                                VIP_DESCRIPTOR* DescriptorPtr);
typedef void (*VIP_CQ_CALLBACK)(VIP_PVOID Context, VIP_NIC_HANDLE NicHandle, VIP_VI_HANDLE ViHandle,
                                VIP_BOOLEAN RecvQueue);

/** From now on Handler hears of asynchronous errors; null: a sentence on standard error again. It
 * hears of each end of a reliable connection once, also where a descriptor has the same error:
 * docs/vipl.md has the codes.
 *  @return VIP_SUCCESS, VIP_INVALID_PARAMETER. */
VIP_RETURN VipErrorCallback(IN VIP_NIC_HANDLE NicHandle, IN VIP_PVOID Context,
                            IN void (*Handler)(IN VIP_PVOID Context,
                                               IN VIP_ERROR_DESCRIPTOR* ErrorDesc));

/* Protection tags and memory. */

/** @return VIP_SUCCESS, VIP_INVALID_PARAMETER, VIP_ERROR_RESOURCE (there are 4094). */
VIP_RETURN VipCreatePtag(IN VIP_NIC_HANDLE NicHandle, OUT VIP_PROTECTION_HANDLE* Ptag);

/** @return VIP_SUCCESS, VIP_INVALID_PARAMETER (the NIC), VIP_INVALID_PTAG (no tag of this NIC),
 *          VIP_ERROR_RESOURCE (a VI or a region uses it). */
VIP_RETURN VipDestroyPtag(IN VIP_NIC_HANDLE NicHandle, IN VIP_PROTECTION_HANDLE Ptag);

/** Registers Length bytes. Regions may overlap. Memory that can only be read may be sent from;
 *  what would write to it fails with a protection error. Memory must stay as it is until
 *  VipDeregisterMem.
 *  Cost        system calls; on verbs also locking each page.
 *  @return VIP_SUCCESS, VIP_INVALID_PARAMETER (also: null, empty, not mapped), VIP_INVALID_PTAG,
 *          VIP_INVALID_RDMAREAD (asked for where the NIC has none), VIP_ERROR_RESOURCE. */
VIP_RETURN VipRegisterMem(IN VIP_NIC_HANDLE NicHandle, IN VIP_PVOID VirtualAddress,
                          IN VIP_ULONG Length, IN VIP_MEM_ATTRIBUTES* MemAttribs,
                          OUT VIP_MEM_HANDLE* MemoryHandle);

/** VirtualAddress and MemoryHandle as registered. No posted descriptor may lie in it or name it.
 *  @return VIP_SUCCESS, VIP_INVALID_PARAMETER. */
VIP_RETURN VipDeregisterMem(IN VIP_NIC_HANDLE NicHandle, IN VIP_PVOID VirtualAddress,
                            IN VIP_MEM_HANDLE MemoryHandle);

/** @return VIP_SUCCESS, VIP_INVALID_PARAMETER. */
VIP_RETURN VipQueryMem(IN VIP_NIC_HANDLE NicHandle, IN VIP_PVOID Address,
                       IN VIP_MEM_HANDLE MemHandle, OUT VIP_MEM_ATTRIBUTES* MemAttribs);

/** Changes tag and rights; the handle stays. No posted descriptor may name the region.
 *  @return VIP_SUCCESS, VIP_INVALID_PARAMETER, VIP_INVALID_PTAG, VIP_INVALID_RDMAREAD,
 *          VIP_ERROR_NOT_SUPPORTED (provider verbs, whose devices would give another handle). */
VIP_RETURN VipSetMemAttributes(IN VIP_NIC_HANDLE NicHandle, IN VIP_PVOID Address,
                               IN VIP_MEM_HANDLE MemHandle, IN VIP_MEM_ATTRIBUTES* MemAttribs);

/* VIs. */

/** A new VI, idle. Completions of a work queue go to its completion queue when that is not null.
 *  @return VIP_SUCCESS, VIP_INVALID_PARAMETER, VIP_INVALID_RELIABILITY_LEVEL (not one of the
 * NIC's), VIP_INVALID_MTU (above the NIC's), VIP_INVALID_QOS (not null), VIP_INVALID_PTAG,
 *          VIP_INVALID_RDMAREAD, VIP_ERROR_RESOURCE. */
VIP_RETURN VipCreateVi(IN VIP_NIC_HANDLE NicHandle, IN VIP_VI_ATTRIBUTES* ViAttribs,
                       IN VIP_CQ_HANDLE SendCQHandle, IN VIP_CQ_HANDLE RecvCQHandle,
                       OUT VIP_VI_HANDLE* ViHandle);

/** Descriptors that are still queued are the program's again. Notifications are cancelled.
 *  @return VIP_SUCCESS, VIP_INVALID_PARAMETER, VIP_INVALID_STATE (not idle: disconnect first). */
VIP_RETURN VipDestroyVi(IN VIP_VI_HANDLE ViHandle);

/** State, attributes, and whether each work queue holds no descriptor. Blocks never.
 *  @return VIP_SUCCESS, VIP_INVALID_PARAMETER. */
VIP_RETURN VipQueryVi(IN VIP_VI_HANDLE ViHandle, OUT VIP_VI_STATE* State,
                      OUT VIP_VI_ATTRIBUTES* ViAttribs, OUT VIP_BOOLEAN* ViSendQEmpty,
                      OUT VIP_BOOLEAN* ViRecvQEmpty);

/** @return as VipCreateVi, and VIP_INVALID_STATE (not idle, or descriptors are queued). */
VIP_RETURN VipSetViAttributes(IN VIP_VI_HANDLE ViHandle, IN VIP_VI_ATTRIBUTES* ViAttribs);

/* Connections: client and server. */

/** Waits for a request whose discriminator is LocalAddr's. Several threads may wait. RemoteAddr
 * needs room for the client's host address and discriminator (NicAddressLen and
 * MaxDiscriminatorLen); the lengths in it are results only. Timeout 0 looks once.
 *  @return VIP_SUCCESS, VIP_INVALID_PARAMETER, VIP_TIMEOUT, VIP_ERROR_RESOURCE. */
VIP_RETURN VipConnectWait(IN VIP_NIC_HANDLE NicHandle, IN VIP_NET_ADDRESS* LocalAddr,
                          IN VIP_ULONG Timeout, OUT VIP_NET_ADDRESS* RemoteAddr,
                          OUT VIP_VI_ATTRIBUTES* RemoteViAttribs, OUT VIP_CONN_HANDLE* ConnHandle);

/** Connects the idle VI to the requester. Any failure but VIP_TIMEOUT and VIP_NOT_REACHABLE leaves
 * the request open, for another VI or VipConnectReject; success and these two use the handle up.
 * Where the requester's time-out ends in this moment, the accept may succeed and the request not;
 * the VI is then told of the disconnection.
 *  Blocks      until both sides are connected, 10 s at most.
 *  @return VIP_SUCCESS, VIP_INVALID_PARAMETER, VIP_INVALID_STATE (the VI is not idle),
 *          VIP_INVALID_RELIABILITY_LEVEL, VIP_INVALID_MTU, VIP_INVALID_QOS (differ from the
 * requester's), VIP_TIMEOUT (the requester has given up), VIP_NOT_REACHABLE (it is gone),
 *          VIP_ERROR_RESOURCE. */
VIP_RETURN VipConnectAccept(IN VIP_CONN_HANDLE ConnHandle, IN VIP_VI_HANDLE ViHandle);

/** Uses the handle up.  @return VIP_SUCCESS, VIP_INVALID_PARAMETER. */
VIP_RETURN VipConnectReject(IN VIP_CONN_HANDLE ConnHandle);

/** Asks the process of RemoteAddr for a connection and waits for its answer. LocalAddr is the
 *  address that the server learns of this side.
 *  @return VIP_SUCCESS, VIP_INVALID_PARAMETER (also: Timeout 0), VIP_INVALID_STATE (the VI is not
 * idle), VIP_REJECT, VIP_NO_MATCH (the time is over, and no thread there waits with that
 * discriminator), VIP_TIMEOUT (it is over for another reason), VIP_NOT_REACHABLE (no such process,
 * or it is gone), VIP_ERROR_RESOURCE. */
VIP_RETURN VipConnectRequest(IN VIP_VI_HANDLE ViHandle, IN VIP_NET_ADDRESS* LocalAddr,
                             IN VIP_NET_ADDRESS* RemoteAddr, IN VIP_ULONG Timeout,
                             OUT VIP_VI_ATTRIBUTES* RemoteViAttribs);

/* Connections: peer to peer. Both sides ask; they connect when each one's remote address is the
   other's local one, host and discriminator. */

/** Blocks      never; the attempt ends after Timeout.
 *  @return VIP_SUCCESS (under way), VIP_INVALID_PARAMETER (also: Timeout 0), VIP_INVALID_STATE,
 *          VIP_NOT_REACHABLE, VIP_ERROR_RESOURCE. */
VIP_RETURN VipConnectPeerRequest(IN VIP_VI_HANDLE ViHandle, IN VIP_NET_ADDRESS* LocalAddr,
                                 IN VIP_NET_ADDRESS* RemoteAddr, IN VIP_ULONG Timeout);

/** Blocks      never.
 *  @return VIP_SUCCESS (connected), VIP_NOT_DONE, VIP_INVALID_PARAMETER, VIP_INVALID_STATE (no
 * attempt is under way), VIP_TIMEOUT, VIP_INVALID_RELIABILITY_LEVEL, VIP_INVALID_MTU,
 * VIP_NOT_REACHABLE: the VI is idle again. */
VIP_RETURN VipConnectPeerDone(IN VIP_VI_HANDLE ViHandle, OUT VIP_VI_ATTRIBUTES* RemoteViAttribs);

/** VipConnectPeerDone until it answers something else than VIP_NOT_DONE. */
VIP_RETURN VipConnectPeerWait(IN VIP_VI_HANDLE ViHandle, OUT VIP_VI_ATTRIBUTES* RemoteViAttribs);

/** Ends the connection, or the attempt: the VI is idle, and its descriptors are complete, as
 * flushed where they were not. The peer's VI enters the error state. The receives of an idle VI
 * complete as flushed, too.
 *  @return VIP_SUCCESS, VIP_INVALID_PARAMETER. */
VIP_RETURN VipDisconnect(IN VIP_VI_HANDLE ViHandle);

/* Transfer. */

/** Posts a send, RDMA write or RDMA read. MemoryHandle: of the region that the descriptor lies in.
 *  Blocks      never.
 *  Order       descriptors of a VI are carried out and complete in the order posted.
 *  @return VIP_SUCCESS (the outcome is in its status; in the error state: flushed),
 *          VIP_INVALID_PARAMETER (also: not aligned, not in that region), VIP_INVALID_STATE (idle
 * or connecting), VIP_ERROR_RESOURCE (MaxDescriptorsPerQueue are queued). */
VIP_RETURN VipPostSend(IN VIP_VI_HANDLE ViHandle, IN VIP_DESCRIPTOR* DescriptorPtr,
                       IN VIP_MEM_HANDLE MemoryHandle);

/** Posts a receive, in any state.  @return as VipPostSend, without VIP_INVALID_STATE. */
VIP_RETURN VipPostRecv(IN VIP_VI_HANDLE ViHandle, IN VIP_DESCRIPTOR* DescriptorPtr,
                       IN VIP_MEM_HANDLE MemoryHandle);

/** Hands over the oldest descriptor of the send queue when it is complete, else null.
 *  Blocks      never.
 *  @return VIP_SUCCESS, VIP_NOT_DONE, VIP_INVALID_PARAMETER, VIP_DESCRIPTOR_ERROR (its status says
 * which error; null: the queue holds no descriptor). */
VIP_RETURN VipSendDone(IN VIP_VI_HANDLE ViHandle, OUT VIP_DESCRIPTOR** DescriptorPtr);
/** The same for the receive queue. */
VIP_RETURN VipRecvDone(IN VIP_VI_HANDLE ViHandle, OUT VIP_DESCRIPTOR** DescriptorPtr);

/** The same, waiting for it: spins, yields, then sleeps.  @return as VipSendDone, with VIP_TIMEOUT
 *  instead of VIP_NOT_DONE. */
VIP_RETURN VipSendWait(IN VIP_VI_HANDLE ViHandle, IN VIP_ULONG Timeout,
                       OUT VIP_DESCRIPTOR** DescriptorPtr);
/** The same for the receive queue. */
VIP_RETURN VipRecvWait(IN VIP_VI_HANDLE ViHandle, IN VIP_ULONG Timeout,
                       OUT VIP_DESCRIPTOR** DescriptorPtr);

/** Handler gets the send queue's oldest descriptor once it is complete: one for each call of this
 *  function, in their order. Destroying the VI cancels what is left.
 *  @return VIP_SUCCESS, VIP_INVALID_PARAMETER, VIP_ERROR_RESOURCE (no thread can be made). */
VIP_RETURN VipSendNotify(IN VIP_VI_HANDLE ViHandle, IN VIP_PVOID Context,
                         IN void (*Handler)(IN VIP_PVOID Context, IN VIP_NIC_HANDLE NicHandle,
                                            IN VIP_VI_HANDLE ViHandle,
                                            IN VIP_DESCRIPTOR* DescriptorPtr));
/** The same for the receive queue. */
VIP_RETURN VipRecvNotify(IN VIP_VI_HANDLE ViHandle, IN VIP_PVOID Context,
                         IN void (*Handler)(IN VIP_PVOID Context, IN VIP_NIC_HANDLE NicHandle,
                                            IN VIP_VI_HANDLE ViHandle,
                                            IN VIP_DESCRIPTOR* DescriptorPtr));

/* Completion queues: entries that name a VI and one of its work queues. VipSendDone or VipRecvDone
   of that VI then hands over the descriptor. */

/** @return VIP_SUCCESS, VIP_INVALID_PARAMETER (also: no entries), VIP_ERROR_RESOURCE (too many). */
VIP_RETURN VipCreateCQ(IN VIP_NIC_HANDLE NicHandle, IN VIP_ULONG EntryCount,
                       OUT VIP_CQ_HANDLE* CQHandle);

/** @return VIP_SUCCESS, VIP_INVALID_PARAMETER, VIP_ERROR_RESOURCE (a VI uses it). */
VIP_RETURN VipDestroyCQ(IN VIP_CQ_HANDLE CQHandle);

/** Entries stay, in their order.
 *  @return VIP_SUCCESS, VIP_INVALID_PARAMETER (also: no entries), VIP_ERROR_RESOURCE (too many). */
VIP_RETURN VipResizeCQ(IN VIP_CQ_HANDLE CQHandle, IN VIP_ULONG EntryCount);

/** Takes the oldest entry.  Blocks never.
 *  @return VIP_SUCCESS, VIP_NOT_DONE, VIP_INVALID_PARAMETER. */
VIP_RETURN VipCQDone(IN VIP_CQ_HANDLE CQHandle, OUT VIP_VI_HANDLE* ViHandle,
                     OUT VIP_BOOLEAN* RecvQueue);

/** The same, waiting for it.  @return VIP_SUCCESS, VIP_TIMEOUT, VIP_INVALID_PARAMETER. */
VIP_RETURN VipCQWait(IN VIP_CQ_HANDLE CQHandle, IN VIP_ULONG Timeout, OUT VIP_VI_HANDLE* ViHandle,
                     OUT VIP_BOOLEAN* RecvQueue);

/** Handler gets the oldest entry once there is one: as VipSendNotify.
 *  @return VIP_SUCCESS, VIP_INVALID_PARAMETER, VIP_ERROR_RESOURCE. */
VIP_RETURN VipCQNotify(IN VIP_CQ_HANDLE CQHandle, IN VIP_PVOID Context,
                       IN void (*Handler)(IN VIP_PVOID Context, IN VIP_NIC_HANDLE NicHandle,
                                          IN VIP_VI_HANDLE ViHandle, IN VIP_BOOLEAN RecvQueue));

/* Names. */

/** NSInitInfo is not looked at.  @return VIP_SUCCESS, VIP_INVALID_PARAMETER. */
VIP_RETURN VipNSInit(IN VIP_NIC_HANDLE NicHandle, IN VIP_PVOID NSInitInfo);

/** The NameIndex-th process (from 0) of that name: VIADUCT_VIPL_NAME of the process, the name of
 *  its host with or without domain, "localhost", "HOST#I" (the I-th of a host), "rankN". Fills in
 *  the host address (NicAddressLen bytes, whatever the lengths in Address were), and
 *  DiscriminatorLen 0.
 *  @return VIP_SUCCESS, VIP_INVALID_PARAMETER, VIP_ERROR_NAMESERVICE (also: no VipNSInit). */
VIP_RETURN VipNSGetHostByName(IN VIP_NIC_HANDLE NicHandle, IN VIP_CHAR* Name,
                              OUT VIP_NET_ADDRESS* Address, IN VIP_ULONG NameIndex);

/** A name that leads back to the address with index 0. NameLen: bytes of Name, then of the name
 *  with its zero.
 *  @return VIP_SUCCESS, VIP_INVALID_PARAMETER, VIP_ERROR_RESOURCE (Name is too short: NameLen says
 *          what it needs), VIP_ERROR_NAMESERVICE. */
VIP_RETURN VipNSGetHostByAddr(IN VIP_NIC_HANDLE NicHandle, IN VIP_NET_ADDRESS* Address,
                              OUT VIP_CHAR* Name, IN OUT VIP_ULONG* NameLen);

/** @return VIP_SUCCESS, VIP_INVALID_PARAMETER, VIP_ERROR_NAMESERVICE (no VipNSInit). */
VIP_RETURN VipNSShutdown(IN VIP_NIC_HANDLE NicHandle);

#ifdef __cplusplus
}
#endif

#endif /* VIADUCT_VIA_VIPL_H */
