/**
 * @file
 * Part of am.h: the forms that calls of AM-2 have in programs, where they differ from am.h's
 * prototypes. Functions of the same names are there as well, for function pointers.
 */
#ifndef VIADUCT_AM_C_AM_OLD_H
#define VIADUCT_AM_C_AM_OLD_H

#ifndef VIADUCT_AM_C_AM_H
#error "include am.h"
#endif

/* Variadic macros: of C99, and of gcc's own C of before, which is not to warn of them. */
#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L
#define VIADUCT_AM_VARIADIC
#elif defined(__GNUC__) && !defined(__cplusplus) && !defined(__STRICT_ANSI__)
#define VIADUCT_AM_VARIADIC
#pragma GCC system_header
#endif

#ifdef __cplusplus
extern "C" {
#endif
/* form: 0 without a name, 1 an en_t *, 2 an en_t **. port -1: any. */
int viaduct_am_allocate_endpoint(eb_t bundle, ep_t* endp, void* name, int form, int port);
/* bytes: of the number that nbytes points to. */
int viaduct_am_get_seg(ep_t ea, void* addr, void* nbytes, size_t bytes);
int viaduct_am_max_seg_length(void* nbytes, size_t bytes);
int viaduct_am_event_mask(eb_t bundle);
#ifdef __cplusplus
}
#endif

/* Constants, so that arrays may have these sizes. */
#define AM_MaxShort() 16
#define AM_MaxMedium() 4096
#define AM_MaxLong() 1048576
#define AM_MaxNumHandlers() 256

#if defined(VIADUCT_AM_VARIADIC)
/* A program may declare a function that is a macro here once more, without parameters: extern int
   AM_SetHandler(); names the function. */
#define VIADUCT_AM_3RD(a, b, chosen, ...) chosen
#define VIADUCT_AM_5TH(a, b, c, d, chosen, ...) chosen
#define VIADUCT_AM_6TH(a, b, c, d, e, chosen, ...) chosen
/* `yes` when x is empty: then a comma comes of x with () behind it, and none without. */
#define VIADUCT_AM_COMMA(...) ,
#define VIADUCT_AM_TWO(...) VIADUCT_AM_3RD(__VA_ARGS__, 1, 0, 0)
#define VIADUCT_AM_IF_NONE(x, yes, no)                                                          \
  VIADUCT_AM_IF_NONE_(VIADUCT_AM_TWO(VIADUCT_AM_COMMA x), VIADUCT_AM_TWO(VIADUCT_AM_COMMA x()), \
                      yes, no)
#define VIADUCT_AM_IF_NONE_(a, b, yes, no) VIADUCT_AM_IF(a, b, yes, no)
#define VIADUCT_AM_IF(a, b, yes, no) VIADUCT_AM_IF_##a##b(yes, no)
#define VIADUCT_AM_IF_01(yes, no) yes
#define VIADUCT_AM_IF_00(yes, no) no
#define VIADUCT_AM_IF_10(yes, no) no
#define VIADUCT_AM_IF_11(yes, no) no
#endif

/* Handlers of any type. */
#if defined(VIADUCT_AM_VARIADIC)
#define VIADUCT_AM_HANDLER1(nothing) AM_SetHandler(nothing)
#define VIADUCT_AM_HANDLER3(ea, handler, function) \
  (AM_SetHandler)(ea, handler, (AM_Handler)(function))
#define AM_SetHandler(...) \
  VIADUCT_AM_5TH(__VA_ARGS__, 4, VIADUCT_AM_HANDLER3, 2, VIADUCT_AM_HANDLER1, 0)(__VA_ARGS__)
#define VIADUCT_AM_HANDLER_ANY1(nothing) AM_SetHandlerAny(nothing)
#define VIADUCT_AM_HANDLER_ANY3(ea, handler, function) \
  (AM_SetHandlerAny)(ea, handler, (AM_Handler)(function))
#define AM_SetHandlerAny(...)                                                            \
  VIADUCT_AM_5TH(__VA_ARGS__, 4, VIADUCT_AM_HANDLER_ANY3, 2, VIADUCT_AM_HANDLER_ANY1, 0) \
  (__VA_ARGS__)
#define VIADUCT_AM_HANDLER_ARGS1(nothing) AM_SetHandlerArgs(nothing)
#define VIADUCT_AM_HANDLER_ARGS5(ea, handler, function, with_data, numargs) \
  (AM_SetHandlerArgs)(ea, handler, (AM_Handler)(function), with_data, numargs)
#define AM_SetHandlerArgs(...)                                                                \
  VIADUCT_AM_6TH(__VA_ARGS__, VIADUCT_AM_HANDLER_ARGS5, 4, 3, 2, VIADUCT_AM_HANDLER_ARGS1, 0) \
  (__VA_ARGS__)
#else
#define AM_SetHandler(ea, handler, function) (AM_SetHandler)(ea, handler, (AM_Handler)(function))
#define AM_SetHandlerArgs(ea, handler, function, with_data, numargs) \
  (AM_SetHandlerArgs)(ea, handler, (AM_Handler)(function), with_data, numargs)
#define AM_SetHandlerAny(ea, handler, function) \
  (AM_SetHandlerAny)(ea, handler, (AM_Handler)(function))
#endif

#ifdef __cplusplus
extern "C++" {
template <class T>
inline int AM_GetSeg(ep_t ea, void* addr, T* nbytes) {
  return viaduct_am_get_seg(ea, addr, nbytes, sizeof(T));
}
template <class T>
inline int AM_MaxSegLength(T* nbytes) {
  return viaduct_am_max_seg_length(nbytes, sizeof(T));
}
/* Templates, since an overload with an en_t ** would make NULL ambiguous. */
inline int AM_AllocateEndpoint(eb_t bundle, ep_t* endp) {
  return viaduct_am_allocate_endpoint(bundle, endp, 0, 0, -1);
}
template <class T>
inline int AM_AllocateEndpoint(eb_t bundle, ep_t* endp, T** name) {
  en_t** const of_a_name = name;
  return viaduct_am_allocate_endpoint(bundle, endp, of_a_name, 2, -1);
}
inline int AM_AllocateKnownEndpoint(eb_t bundle, ep_t* endp, int port) {
  return viaduct_am_allocate_endpoint(bundle, endp, 0, 0, port < 0 ? -2 : port);
}
template <class T>
inline int AM_AllocateKnownEndpoint(eb_t bundle, ep_t* endp, T** name, int port) {
  en_t** const of_a_name = name;
  return viaduct_am_allocate_endpoint(bundle, endp, of_a_name, 2, port < 0 ? -2 : port);
}
inline int AM_GetEventMask(eb_t bundle) { return viaduct_am_event_mask(bundle); }
}
#elif defined(__GNUC__)
/* An int * or a size_t *. */
#define VIADUCT_AM_NUMBER(p)                                               \
  (p), (__builtin_types_compatible_p(__typeof__(p), int*) ||               \
                __builtin_types_compatible_p(__typeof__(p), unsigned int*) \
            ? sizeof(int)                                                  \
            : sizeof(size_t))
#define VIADUCT_AM_NAME(name) \
  (void*)(name), (__builtin_types_compatible_p(__typeof__(name), en_t**) ? 2 : 1)
#if defined(VIADUCT_AM_VARIADIC)
#define VIADUCT_AM_SEG1(nothing) AM_GetSeg(nothing)
#define VIADUCT_AM_SEG3(ea, addr, nbytes) \
  viaduct_am_get_seg(ea, (void*)(addr), VIADUCT_AM_NUMBER(nbytes))
#define AM_GetSeg(...) \
  VIADUCT_AM_5TH(__VA_ARGS__, 4, VIADUCT_AM_SEG3, 2, VIADUCT_AM_SEG1, 0)(__VA_ARGS__)
#define VIADUCT_AM_SEG_LENGTH1(nbytes) viaduct_am_max_seg_length(VIADUCT_AM_NUMBER(nbytes))
#define AM_MaxSegLength(nbytes) \
  VIADUCT_AM_IF_NONE(nbytes, AM_MaxSegLength, VIADUCT_AM_SEG_LENGTH1)(nbytes)
#define VIADUCT_AM_ENDPOINT1(nothing) AM_AllocateEndpoint(nothing)
#define VIADUCT_AM_ENDPOINT2(bundle, endp) viaduct_am_allocate_endpoint(bundle, endp, 0, 0, -1)
#define VIADUCT_AM_ENDPOINT3(bundle, endp, name) \
  viaduct_am_allocate_endpoint(bundle, endp, VIADUCT_AM_NAME(name), -1)
#define AM_AllocateEndpoint(...)                                                                   \
  VIADUCT_AM_5TH(__VA_ARGS__, 4, VIADUCT_AM_ENDPOINT3, VIADUCT_AM_ENDPOINT2, VIADUCT_AM_ENDPOINT1, \
                 0)                                                                                \
  (__VA_ARGS__)
#define VIADUCT_AM_PORT(port) ((port) < 0 ? -2 : (port))
#define VIADUCT_AM_KNOWN1(nothing) AM_AllocateKnownEndpoint(nothing)
#define VIADUCT_AM_KNOWN3(bundle, endp, port) \
  viaduct_am_allocate_endpoint(bundle, endp, 0, 0, VIADUCT_AM_PORT(port))
#define VIADUCT_AM_KNOWN4(bundle, endp, name, port) \
  viaduct_am_allocate_endpoint(bundle, endp, VIADUCT_AM_NAME(name), VIADUCT_AM_PORT(port))
#define AM_AllocateKnownEndpoint(...)                                                        \
  VIADUCT_AM_5TH(__VA_ARGS__, VIADUCT_AM_KNOWN4, VIADUCT_AM_KNOWN3, 2, VIADUCT_AM_KNOWN1, 0) \
  (__VA_ARGS__)
#define VIADUCT_AM_MASK1(bundle) \
  VIADUCT_AM_IF_NONE(bundle, AM_GetEventMask, viaduct_am_event_mask)(bundle)
#define VIADUCT_AM_MASK2(bundle, mask) (AM_GetEventMask)(bundle, mask)
#define AM_GetEventMask(...) \
  VIADUCT_AM_5TH(__VA_ARGS__, 4, 3, VIADUCT_AM_MASK2, VIADUCT_AM_MASK1, 0)(__VA_ARGS__)
#else
#define AM_GetSeg(ea, addr, nbytes) viaduct_am_get_seg(ea, (void*)(addr), VIADUCT_AM_NUMBER(nbytes))
#define AM_MaxSegLength(nbytes) viaduct_am_max_seg_length(VIADUCT_AM_NUMBER(nbytes))
#define AM_AllocateEndpoint(bundle, endp, name) \
  viaduct_am_allocate_endpoint(bundle, endp, VIADUCT_AM_NAME(name), -1)
#endif
#endif

#if defined(__GNUC__) && (defined(__cplusplus) || defined(VIADUCT_AM_VARIADIC))
#if !defined(__cplusplus) || __cplusplus >= 201103L
/* Where a get puts its data: an offset, or, told by its type, an address. */
#define VIADUCT_AM_ADDRESS ((size_t)1 << 63)
#if defined(__cplusplus) /* nullptr has a type of its own */
#define VIADUCT_AM_IS_ADDRESS(to) \
  (__builtin_classify_type(to) == 5 || __is_same(decltype(to), decltype(nullptr)))
#else
#define VIADUCT_AM_IS_ADDRESS(to) (__builtin_classify_type(to) == 5)
#endif
#define VIADUCT_AM_PLACE(to) \
  (VIADUCT_AM_IS_ADDRESS(to) ? (size_t)(to) | VIADUCT_AM_ADDRESS : (size_t)(to))
#define VIADUCT_AM_GET_CALL(name, ep, from, source, handler, to, ...) \
  (name)(ep, from, source, handler, VIADUCT_AM_PLACE(to), __VA_ARGS__)
#if defined(__cplusplus)
#define VIADUCT_AM_GET(...) VIADUCT_AM_GET_CALL(__VA_ARGS__)
#else
#define VIADUCT_AM_GET_DECLARED(name, nothing) name(nothing)
#define VIADUCT_AM_FIRST(first, ...) first
#define VIADUCT_AM_GET(name, ...) \
  VIADUCT_AM_GET_(VIADUCT_AM_FIRST(__VA_ARGS__, 0), name, __VA_ARGS__)
#define VIADUCT_AM_GET_(first, name, ...)                                 \
  VIADUCT_AM_IF_NONE(first, VIADUCT_AM_GET_DECLARED, VIADUCT_AM_GET_CALL) \
  (name, __VA_ARGS__)
#endif
#define AM_GetXfer0(...) VIADUCT_AM_GET(AM_GetXfer0, __VA_ARGS__)
#define AM_GetXferAsync0(...) VIADUCT_AM_GET(AM_GetXferAsync0, __VA_ARGS__)
#define AM_GetXfer1(...) VIADUCT_AM_GET(AM_GetXfer1, __VA_ARGS__)
#define AM_GetXferAsync1(...) VIADUCT_AM_GET(AM_GetXferAsync1, __VA_ARGS__)
#define AM_GetXfer2(...) VIADUCT_AM_GET(AM_GetXfer2, __VA_ARGS__)
#define AM_GetXferAsync2(...) VIADUCT_AM_GET(AM_GetXferAsync2, __VA_ARGS__)
#define AM_GetXfer3(...) VIADUCT_AM_GET(AM_GetXfer3, __VA_ARGS__)
#define AM_GetXferAsync3(...) VIADUCT_AM_GET(AM_GetXferAsync3, __VA_ARGS__)
#define AM_GetXfer4(...) VIADUCT_AM_GET(AM_GetXfer4, __VA_ARGS__)
#define AM_GetXferAsync4(...) VIADUCT_AM_GET(AM_GetXferAsync4, __VA_ARGS__)
#define AM_GetXfer5(...) VIADUCT_AM_GET(AM_GetXfer5, __VA_ARGS__)
#define AM_GetXferAsync5(...) VIADUCT_AM_GET(AM_GetXferAsync5, __VA_ARGS__)
#define AM_GetXfer6(...) VIADUCT_AM_GET(AM_GetXfer6, __VA_ARGS__)
#define AM_GetXferAsync6(...) VIADUCT_AM_GET(AM_GetXferAsync6, __VA_ARGS__)
#define AM_GetXfer7(...) VIADUCT_AM_GET(AM_GetXfer7, __VA_ARGS__)
#define AM_GetXferAsync7(...) VIADUCT_AM_GET(AM_GetXferAsync7, __VA_ARGS__)
#define AM_GetXfer8(...) VIADUCT_AM_GET(AM_GetXfer8, __VA_ARGS__)
#define AM_GetXferAsync8(...) VIADUCT_AM_GET(AM_GetXferAsync8, __VA_ARGS__)
#define AM_GetXfer9(...) VIADUCT_AM_GET(AM_GetXfer9, __VA_ARGS__)
#define AM_GetXferAsync9(...) VIADUCT_AM_GET(AM_GetXferAsync9, __VA_ARGS__)
#define AM_GetXfer10(...) VIADUCT_AM_GET(AM_GetXfer10, __VA_ARGS__)
#define AM_GetXferAsync10(...) VIADUCT_AM_GET(AM_GetXferAsync10, __VA_ARGS__)
#define AM_GetXfer11(...) VIADUCT_AM_GET(AM_GetXfer11, __VA_ARGS__)
#define AM_GetXferAsync11(...) VIADUCT_AM_GET(AM_GetXferAsync11, __VA_ARGS__)
#define AM_GetXfer12(...) VIADUCT_AM_GET(AM_GetXfer12, __VA_ARGS__)
#define AM_GetXferAsync12(...) VIADUCT_AM_GET(AM_GetXferAsync12, __VA_ARGS__)
#define AM_GetXfer13(...) VIADUCT_AM_GET(AM_GetXfer13, __VA_ARGS__)
#define AM_GetXferAsync13(...) VIADUCT_AM_GET(AM_GetXferAsync13, __VA_ARGS__)
#define AM_GetXfer14(...) VIADUCT_AM_GET(AM_GetXfer14, __VA_ARGS__)
#define AM_GetXferAsync14(...) VIADUCT_AM_GET(AM_GetXferAsync14, __VA_ARGS__)
#define AM_GetXfer15(...) VIADUCT_AM_GET(AM_GetXfer15, __VA_ARGS__)
#define AM_GetXferAsync15(...) VIADUCT_AM_GET(AM_GetXferAsync15, __VA_ARGS__)
#define AM_GetXfer16(...) VIADUCT_AM_GET(AM_GetXfer16, __VA_ARGS__)
#define AM_GetXferAsync16(...) VIADUCT_AM_GET(AM_GetXferAsync16, __VA_ARGS__)
#endif
#endif

/* Names of older revisions. */
#define AM_RequestMedium0 AM_RequestI0
#define AM_RequestLong0 AM_RequestXfer0
#define AM_RequestLongAsync0 AM_RequestXferAsync0
#define AM_ReplyMedium0 AM_ReplyI0
#define AM_ReplyLong0 AM_ReplyXfer0
#define AM_GetXferAsynch0 AM_GetXferAsync0
#define AM_RequestMedium1 AM_RequestI1
#define AM_RequestLong1 AM_RequestXfer1
#define AM_RequestLongAsync1 AM_RequestXferAsync1
#define AM_ReplyMedium1 AM_ReplyI1
#define AM_ReplyLong1 AM_ReplyXfer1
#define AM_GetXferAsynch1 AM_GetXferAsync1
#define AM_RequestMedium2 AM_RequestI2
#define AM_RequestLong2 AM_RequestXfer2
#define AM_RequestLongAsync2 AM_RequestXferAsync2
#define AM_ReplyMedium2 AM_ReplyI2
#define AM_ReplyLong2 AM_ReplyXfer2
#define AM_GetXferAsynch2 AM_GetXferAsync2
#define AM_RequestMedium3 AM_RequestI3
#define AM_RequestLong3 AM_RequestXfer3
#define AM_RequestLongAsync3 AM_RequestXferAsync3
#define AM_ReplyMedium3 AM_ReplyI3
#define AM_ReplyLong3 AM_ReplyXfer3
#define AM_GetXferAsynch3 AM_GetXferAsync3
#define AM_RequestMedium4 AM_RequestI4
#define AM_RequestLong4 AM_RequestXfer4
#define AM_RequestLongAsync4 AM_RequestXferAsync4
#define AM_ReplyMedium4 AM_ReplyI4
#define AM_ReplyLong4 AM_ReplyXfer4
#define AM_GetXferAsynch4 AM_GetXferAsync4
#define AM_RequestMedium5 AM_RequestI5
#define AM_RequestLong5 AM_RequestXfer5
#define AM_RequestLongAsync5 AM_RequestXferAsync5
#define AM_ReplyMedium5 AM_ReplyI5
#define AM_ReplyLong5 AM_ReplyXfer5
#define AM_GetXferAsynch5 AM_GetXferAsync5
#define AM_RequestMedium6 AM_RequestI6
#define AM_RequestLong6 AM_RequestXfer6
#define AM_RequestLongAsync6 AM_RequestXferAsync6
#define AM_ReplyMedium6 AM_ReplyI6
#define AM_ReplyLong6 AM_ReplyXfer6
#define AM_GetXferAsynch6 AM_GetXferAsync6
#define AM_RequestMedium7 AM_RequestI7
#define AM_RequestLong7 AM_RequestXfer7
#define AM_RequestLongAsync7 AM_RequestXferAsync7
#define AM_ReplyMedium7 AM_ReplyI7
#define AM_ReplyLong7 AM_ReplyXfer7
#define AM_GetXferAsynch7 AM_GetXferAsync7
#define AM_RequestMedium8 AM_RequestI8
#define AM_RequestLong8 AM_RequestXfer8
#define AM_RequestLongAsync8 AM_RequestXferAsync8
#define AM_ReplyMedium8 AM_ReplyI8
#define AM_ReplyLong8 AM_ReplyXfer8
#define AM_GetXferAsynch8 AM_GetXferAsync8
#define AM_RequestMedium9 AM_RequestI9
#define AM_RequestLong9 AM_RequestXfer9
#define AM_RequestLongAsync9 AM_RequestXferAsync9
#define AM_ReplyMedium9 AM_ReplyI9
#define AM_ReplyLong9 AM_ReplyXfer9
#define AM_GetXferAsynch9 AM_GetXferAsync9
#define AM_RequestMedium10 AM_RequestI10
#define AM_RequestLong10 AM_RequestXfer10
#define AM_RequestLongAsync10 AM_RequestXferAsync10
#define AM_ReplyMedium10 AM_ReplyI10
#define AM_ReplyLong10 AM_ReplyXfer10
#define AM_GetXferAsynch10 AM_GetXferAsync10
#define AM_RequestMedium11 AM_RequestI11
#define AM_RequestLong11 AM_RequestXfer11
#define AM_RequestLongAsync11 AM_RequestXferAsync11
#define AM_ReplyMedium11 AM_ReplyI11
#define AM_ReplyLong11 AM_ReplyXfer11
#define AM_GetXferAsynch11 AM_GetXferAsync11
#define AM_RequestMedium12 AM_RequestI12
#define AM_RequestLong12 AM_RequestXfer12
#define AM_RequestLongAsync12 AM_RequestXferAsync12
#define AM_ReplyMedium12 AM_ReplyI12
#define AM_ReplyLong12 AM_ReplyXfer12
#define AM_GetXferAsynch12 AM_GetXferAsync12
#define AM_RequestMedium13 AM_RequestI13
#define AM_RequestLong13 AM_RequestXfer13
#define AM_RequestLongAsync13 AM_RequestXferAsync13
#define AM_ReplyMedium13 AM_ReplyI13
#define AM_ReplyLong13 AM_ReplyXfer13
#define AM_GetXferAsynch13 AM_GetXferAsync13
#define AM_RequestMedium14 AM_RequestI14
#define AM_RequestLong14 AM_RequestXfer14
#define AM_RequestLongAsync14 AM_RequestXferAsync14
#define AM_ReplyMedium14 AM_ReplyI14
#define AM_ReplyLong14 AM_ReplyXfer14
#define AM_GetXferAsynch14 AM_GetXferAsync14
#define AM_RequestMedium15 AM_RequestI15
#define AM_RequestLong15 AM_RequestXfer15
#define AM_RequestLongAsync15 AM_RequestXferAsync15
#define AM_ReplyMedium15 AM_ReplyI15
#define AM_ReplyLong15 AM_ReplyXfer15
#define AM_GetXferAsynch15 AM_GetXferAsync15
#define AM_RequestMedium16 AM_RequestI16
#define AM_RequestLong16 AM_RequestXfer16
#define AM_RequestLongAsync16 AM_RequestXferAsync16
#define AM_ReplyMedium16 AM_ReplyI16
#define AM_ReplyLong16 AM_ReplyXfer16
#define AM_GetXferAsynch16 AM_GetXferAsync16

#endif
