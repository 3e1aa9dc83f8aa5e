/* split-c/runtime.h: the runtime's functions for C that splitcc generates (or that a person writes).
 *
 * GNU C89 and C++. No other header is needed. No macro is defined without the prefix VSC_ (but for
 * vsc_write where VSC_SEQUENTIAL is, and those of split-c/checked.h where VSC_CHECKED is), and no
 * name without the prefix vsc_: the generated C includes this before the user's first line.
 *
 * A global or spread pointer is one word: process in bits 48 to 63, and in bits 0 to 47 a plain
 * address in that process, or bit 47 and the place of the object in every process ("aligned", for
 * objects of the region that all processes have mapped alike). Null is any word whose bits 0 to 47
 * are 0, and is made as the all-zero word. splitcc links without position independence and its
 * programs run as processes, so that `(vsc_word)p` is a plain address (the runtime refuses to start
 * otherwise).
 *
 * Words of 1, 2, 4, 8 bytes go inline where the pointer is aligned: the light poll and one load or
 * store; everything else calls. Section numbers are those of docs/splitcc.md.
 */
#ifndef VSC_SPLIT_C_RUNTIME_H
#define VSC_SPLIT_C_RUNTIME_H

#ifdef __cplusplus
extern "C" {
#endif

typedef unsigned long vsc_word;

#define VSC_INLINE static __inline__ __attribute__((__always_inline__, __unused__, __artificial__))
#define VSC_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define VSC_ADDRESS_MASK 0xffffffffffffUL
#define VSC_ALIGNED_BIT 0x800000000000UL

/* ---- 1. The hot part of this process: the same bytes as viaduct::splitc::detail::Hot ---- */

struct vsc_hot_part {
  const void *views;
  const unsigned long *attention;
  unsigned long aligned_bit;
  const unsigned long *next_header;
  unsigned long empty_header;
  unsigned int myproc;
  unsigned int procs;
  void *machine;
};
extern __thread struct vsc_hot_part vsc_hot __asm__("_ZN7viaduct6splitc6detail3hotE");

/* The translation of aligned words: the same bytes as viaduct::splitc::detail::Alignment. */
struct vsc_alignment_part {
  unsigned long first;
  unsigned long bytes;
  unsigned long origin;
  unsigned long step;
  unsigned long procs;
};
extern struct vsc_alignment_part vsc_alignment __asm__("_ZN7viaduct6splitc6detail9alignmentE");

void vsc_poll_slow(void);

VSC_INLINE int vsc_myproc(void) { return (int)vsc_hot.myproc; }
VSC_INLINE int vsc_procs(void) { return (int)vsc_hot.procs; }
/* log2(PROCS); negative when PROCS is no power of two. */
VSC_INLINE int vsc_procslog(void) {
  unsigned int procs = vsc_hot.procs;
  return (procs & (procs - 1)) != 0 ? -1 : (int)__builtin_ctz(procs);
}

/* A word of part that does not change while a function of the program runs, read so that the
   compiler may keep it in a register for as long as it likes. */
#ifdef __x86_64__
#define VSC_UNCHANGING(to, part, member) \
  __asm__("mov %c2(%1), %0" : "=r"(to) : "r"(&part), "i"(__builtin_offsetof(__typeof__(part), member)))
#else
#define VSC_UNCHANGING(to, part, member) ((to) = part.member)
#endif

/* Whether a word that another process may change is another one than value. A comparison with
   memory, that writes no register. */
VSC_INLINE int vsc_changed(const unsigned long *word, unsigned long value) {
#if defined(__x86_64__) && defined(__GCC_ASM_FLAG_OUTPUTS__)
  int changed;
  __asm__ __volatile__("cmpq %2, %1" : "=@ccne"(changed) : "m"(*word), "er"(value));
  return changed;
#else
  return __atomic_load_n(word, __ATOMIC_RELAXED) != value;
#endif
}
VSC_INLINE void vsc_light_poll(void) {
  const unsigned long *attention;
  VSC_UNCHANGING(attention, vsc_hot, attention);
  if (VSC_UNLIKELY(vsc_changed(vsc_hot.next_header, vsc_hot.empty_header) ||
                   vsc_changed(attention, 0)))
    vsc_poll_slow();
}
/* Where the word's object is in this process, when the word is aligned; null: call. */
VSC_INLINE char *vsc_place(vsc_word word) {
  unsigned long aligned;
  VSC_UNCHANGING(aligned, vsc_hot, aligned_bit);
  return VSC_UNLIKELY((word & aligned) == 0) ? (char *)0 : (char *)(word << 17 >> 17);
}

/* ---- 2. Words ---- */

VSC_INLINE vsc_word vsc_make(unsigned long process, const volatile void *address) {
  unsigned long at = (unsigned long)address - vsc_alignment.first;
  if (at >= vsc_alignment.bytes || process >= vsc_alignment.procs)
    return process << 48 | (vsc_word)address;
  return vsc_alignment.origin + at + process * vsc_alignment.step;
}
/* toglobal(process, p); null stays null. */
VSC_INLINE vsc_word vsc_toglobal(long process, const volatile void *p) {
  return p == (void *)0 ? 0 : vsc_make((unsigned long)process, p);
}
/* A local pointer made global; null stays null. */
VSC_INLINE vsc_word vsc_global(const volatile void *p) {
  return vsc_toglobal((long)vsc_hot.myproc, p);
}
VSC_INLINE int vsc_process(vsc_word w) { return (int)(w >> 48); }
VSC_INLINE int vsc_is(vsc_word w) { return (w & VSC_ADDRESS_MASK) != 0; }
VSC_INLINE int vsc_equal(vsc_word a, vsc_word b) {
  return a == b || ((a | b) & VSC_ADDRESS_MASK) == 0;
}
/* What the word of the same object of the next process has more. */
VSC_INLINE unsigned long vsc_step(vsc_word w) {
  unsigned long step;
  VSC_UNCHANGING(step, vsc_alignment, step);
  return VSC_UNLIKELY((w & VSC_ALIGNED_BIT) == 0) ? 1UL << 48 : step;
}
/* The word of the same object of process 0. */
VSC_INLINE vsc_word vsc_first(vsc_word w) { return w - (w >> 48) * vsc_step(w); }
VSC_INLINE void *vsc_local(vsc_word w) {
  if ((w & VSC_ALIGNED_BIT) == 0) return (void *)(w & VSC_ADDRESS_MASK);
  return (void *)(vsc_alignment.first + (vsc_first(w) - vsc_alignment.origin));
}
/* Spread pointers are ordered as their elements are: by address, then by process. */
VSC_INLINE unsigned long vsc_spread_rank(vsc_word w) { return vsc_first(w) << 16 | w >> 48; }

/* Within an object, or to its end: the process stays. */
VSC_INLINE vsc_word vsc_add(vsc_word w, long bytes) { return w + (unsigned long)bytes; }
/* i / PROCS, rounded down. */
long vsc_spread_rows(long i) __attribute__((__pure__));
/* i elements on from w: across the processes first. */
VSC_INLINE vsc_word vsc_spread_add(vsc_word w, long i, unsigned long size) {
  long procs = (long)vsc_hot.procs;
  long at = (long)(w >> 48) + i;
  long rows;
  if ((unsigned long)at < (unsigned long)procs) return w + (unsigned long)i * vsc_step(w);
  if ((procs & (procs - 1)) == 0) {
    rows = at >> __builtin_ctzl((unsigned long)procs);
  } else {
    rows = vsc_spread_rows(at);
  }
  return w + (unsigned long)rows * size + (unsigned long)(i - rows * procs) * vsc_step(w);
}
/* The number of elements from b to a. */
VSC_INLINE long vsc_spread_difference(vsc_word a, vsc_word b, unsigned long size) {
  long bytes = (long)(vsc_first(a) - vsc_first(b));
  return bytes / (long)size * (long)vsc_hot.procs + (long)(a >> 48) - (long)(b >> 48);
}
/* The number of elements from b to a in one process. */
VSC_INLINE long vsc_difference(vsc_word a, vsc_word b, unsigned long size) {
  return (long)(vsc_first(a) - vsc_first(b)) / (long)size;
}

/* ---- 3. Any number of bytes. read and write block; get and put are complete after sync() ---- */

void vsc_read(void *to, vsc_word from, unsigned long bytes);
void vsc_write(vsc_word to, const void *from, unsigned long bytes);
void vsc_get(void *to, vsc_word from, unsigned long bytes);
void vsc_put(vsc_word to, const void *from, unsigned long bytes);   /* from may change at once */
void vsc_store(vsc_word to, const void *from, unsigned long bytes); /* likewise */
/* A bit-field in a structure of so many bytes: mask has ones in it alone. Its bytes are read, get
 * its bits of value, and are written. */
void vsc_write_bits(vsc_word to, const void *value, const void *mask, unsigned long bytes);

/* ---- 4. Words of 1, 2, 4, 8 bytes, at their natural alignment.
 * The slow halves are functions: vsc_read8_slow and so on. */

/* The sizes that are defined, as sums. Files that splitcc makes ask for those that they use, since a
 * compiler needs time for each; other files get all. Walks and floats need the words of their size. */
#ifndef VSC_WORD_SIZES
#define VSC_WORD_SIZES 15
#define VSC_WALK_SIZES 15
#define VSC_FLOAT_SIZES 12
#endif

#define VSC_WORDS(bytes, type)                                                                \
  type vsc_read##bytes##_slow(vsc_word from);                                                 \
  void vsc_write##bytes##_slow(vsc_word to, type value);                                      \
  void vsc_get##bytes##_slow(void *to, vsc_word from);                                        \
  void vsc_put##bytes##_slow(vsc_word to, type value);                                        \
  void vsc_store##bytes(vsc_word to, type value);                                             \
  VSC_INLINE type vsc_read##bytes(vsc_word from) {                                            \
    const type *place = (const type *)vsc_place(from);                                        \
    if (VSC_UNLIKELY(place == (const type *)0)) return vsc_read##bytes##_slow(from);          \
    vsc_light_poll();                                                                         \
    return __atomic_load_n(place, __ATOMIC_ACQUIRE);                                          \
  }                                                                                           \
  VSC_INLINE type vsc_write##bytes(vsc_word to, type value) {                                 \
    type *place = (type *)vsc_place(to);                                                      \
    if (VSC_UNLIKELY(place == (type *)0)) {                                                   \
      vsc_write##bytes##_slow(to, value);                                                     \
    } else {                                                                                  \
      vsc_light_poll();                                                                       \
      __atomic_store_n(place, value, __ATOMIC_RELEASE);                                       \
    }                                                                                         \
    VSC_AFTER_WRITE;                                                                          \
    return value;                                                                             \
  }                                                                                           \
  VSC_INLINE void vsc_get##bytes(void *to, vsc_word from) {                                   \
    const type *place = (const type *)vsc_place(from);                                        \
    if (VSC_UNLIKELY(place == (const type *)0)) {                                             \
      vsc_get##bytes##_slow(to, from);                                                        \
    } else {                                                                                  \
      vsc_light_poll();                                                                       \
      *(type *)to = __atomic_load_n(place, __ATOMIC_ACQUIRE);                                 \
    }                                                                                         \
  }                                                                                           \
  VSC_INLINE type vsc_put##bytes(vsc_word to, type value) {                                   \
    type *place = (type *)vsc_place(to);                                                      \
    if (VSC_UNLIKELY(place == (type *)0)) {                                                   \
      vsc_put##bytes##_slow(to, value);                                                       \
    } else {                                                                                  \
      vsc_light_poll();                                                                       \
      __atomic_store_n(place, value, __ATOMIC_RELEASE);                                       \
    }                                                                                         \
    return value;                                                                             \
  }

/* -fsplitc-sc: a full fence after each blocking write. */
#ifdef VSC_SEQUENTIAL
#define VSC_AFTER_WRITE __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define vsc_write(to, from, bytes) (vsc_write(to, from, bytes), VSC_AFTER_WRITE)
#define vsc_write_bits(to, value, mask, bytes) \
  (vsc_write_bits(to, value, mask, bytes), VSC_AFTER_WRITE)
#else
#define VSC_AFTER_WRITE (void)0
#endif

#if VSC_WORD_SIZES & 1
VSC_WORDS(1, unsigned char)
#endif
#if VSC_WORD_SIZES & 2
VSC_WORDS(2, unsigned short)
#endif
#if VSC_WORD_SIZES & 4
VSC_WORDS(4, unsigned int)
#endif
#if VSC_WORD_SIZES & 8
VSC_WORDS(8, unsigned long)
#endif

/* Accesses in a loop whose addresses move by a step. A walk remembers a stretch of memory that is
 * mapped here: the words from `first` on, each at the address word + `shift`. Each access takes its
 * size from `left`, so that after at most 256 of them the next one polls and asks the table again;
 * `left` is what the stretch still allows, a multiple of that size. A span remembers the elements of
 * a spread array from number `first` on, element 0 being at `shift`, and counts `left` in elements;
 * with several processes, neighbours are in different ones, and nothing is remembered. Both travel by
 * value, so that the compiler may keep them in registers. */
struct vsc_walk {
  unsigned long left;
  unsigned long first;
  unsigned long shift;
};
struct vsc_span {
  unsigned long left;
  unsigned long first;
  unsigned long shift;
  vsc_word array;
};
/* Polls; answers the stretch around the object, with `left` 0 where the object is not mapped. `before` is the
 * first of the stretch before. These functions are not inline, since they are called seldom or take long, and a compiler
 * needs time for each copy of their code. vsc_element_read4() and the like access element i of an array. */
struct vsc_walk vsc_walk_start(unsigned long before, vsc_word at, unsigned long bytes);
void vsc_own_store(unsigned long bytes); /* counts a store to this process itself */
struct vsc_span vsc_span_start(unsigned long before, vsc_word array, long i, unsigned long bytes);

#define VSC_WALKS(bytes, type)                                                                   \
  type vsc_element_read##bytes(vsc_word array, long i);                                          \
  void vsc_element_write##bytes(vsc_word array, long i, type value);                             \
  void vsc_element_store##bytes(vsc_word array, long i, type value);                             \
  VSC_INLINE type vsc_walk_read##bytes(struct vsc_walk *walk, vsc_word from) {                   \
    if (VSC_UNLIKELY(from - walk->first >= walk->left)) {                                        \
      *walk = vsc_walk_start(walk->first, from, bytes);                                          \
      if (walk->left == 0) return vsc_read##bytes##_slow(from);                                  \
    }                                                                                            \
    walk->left -= bytes;                                                                         \
    return __atomic_load_n((const type *)(from + walk->shift), __ATOMIC_ACQUIRE);                \
  }                                                                                              \
  VSC_INLINE type vsc_walk_write##bytes(struct vsc_walk *walk, vsc_word to, type value) {        \
    if (VSC_UNLIKELY(to - walk->first >= walk->left)) *walk = vsc_walk_start(walk->first, to, bytes);\
    if (VSC_UNLIKELY(walk->left == 0)) {                                                         \
      vsc_write##bytes##_slow(to, value);                                                        \
    } else {                                                                                     \
      walk->left -= bytes;                                                                       \
      __atomic_store_n((type *)(to + walk->shift), value, __ATOMIC_RELEASE);                     \
    }                                                                                            \
    VSC_AFTER_WRITE;                                                                             \
    return value;                                                                                \
  }                                                                                              \
  VSC_INLINE type vsc_span_read##bytes(struct vsc_span *span, vsc_word array, long i) {          \
    if (VSC_UNLIKELY((unsigned long)i - span->first >= span->left || array != span->array)) {    \
      if (vsc_hot.procs == 1) *span = vsc_span_start(span->first, array, i, bytes);              \
      if (span->left == 0) return vsc_element_read##bytes(array, i);                             \
    }                                                                                            \
    span->left -= 1;                                                                             \
    return __atomic_load_n((const type *)span->shift + i, __ATOMIC_ACQUIRE);                     \
  }                                                                                              \
  VSC_INLINE type vsc_span_write##bytes(struct vsc_span *span, vsc_word array, long i,           \
                                        type value) {                                            \
    if (VSC_UNLIKELY((unsigned long)i - span->first >= span->left || array != span->array)) {    \
      if (vsc_hot.procs == 1) *span = vsc_span_start(span->first, array, i, bytes);              \
      if (span->left == 0) {                                                                     \
        vsc_element_write##bytes(array, i, value);                                               \
        VSC_AFTER_WRITE;                                                                         \
        return value;                                                                            \
      }                                                                                          \
    }                                                                                            \
    span->left -= 1;                                                                             \
    __atomic_store_n((type *)span->shift + i, value, __ATOMIC_RELEASE);                          \
    VSC_AFTER_WRITE;                                                                             \
    return value;                                                                                \
  }                                                                                              \
  VSC_INLINE void vsc_span_store##bytes(struct vsc_span *span, vsc_word array, long i,           \
                                        type value) {                                            \
    if (VSC_UNLIKELY((unsigned long)i - span->first >= span->left || array != span->array)) {    \
      if (vsc_hot.procs == 1) *span = vsc_span_start(span->first, array, i, bytes);              \
      if (span->left == 0) {                                                                     \
        vsc_element_store##bytes(array, i, value);                                               \
        return;                                                                                  \
      }                                                                                          \
    }                                                                                            \
    span->left -= 1;                                                                             \
    __atomic_store_n((type *)span->shift + i, value, __ATOMIC_RELEASE);                          \
    vsc_own_store(bytes);                                                                        \
  }
#if VSC_WALK_SIZES & 1
VSC_WALKS(1, unsigned char)
#endif
#if VSC_WALK_SIZES & 2
VSC_WALKS(2, unsigned short)
#endif
#if VSC_WALK_SIZES & 4
VSC_WALKS(4, unsigned int)
#endif
#if VSC_WALK_SIZES & 8
VSC_WALKS(8, unsigned long)
#endif

/* float and double travel as the words of their size. */
#define VSC_FLOATS(name, bytes, type, bits)                   \
  VSC_INLINE bits vsc_bits_##name(type value) {               \
    bits word;                                                \
    __builtin_memcpy(&word, &value, bytes);                   \
    return word;                                              \
  }                                                           \
  VSC_INLINE type vsc_read_##name(vsc_word from) {            \
    bits word = vsc_read##bytes(from);                        \
    type value;                                               \
    __builtin_memcpy(&value, &word, bytes);                   \
    return value;                                             \
  }                                                           \
  VSC_INLINE type vsc_write_##name(vsc_word to, type value) { \
    vsc_write##bytes(to, vsc_bits_##name(value));             \
    return value;                                             \
  }                                                           \
  VSC_INLINE type vsc_put_##name(vsc_word to, type value) {   \
    vsc_put##bytes(to, vsc_bits_##name(value));               \
    return value;                                             \
  }                                                           \
  VSC_INLINE type vsc_store_##name(vsc_word to, type value) { \
    vsc_store##bytes(to, vsc_bits_##name(value));             \
    return value;                                             \
  }
#define VSC_WALK_FLOATS(name, bytes, type, bits)                               \
  VSC_INLINE type vsc_walk_read_##name(struct vsc_walk *walk, vsc_word from) { \
    bits word = vsc_walk_read##bytes(walk, from);                              \
    type value;                                                                \
    __builtin_memcpy(&value, &word, bytes);                                    \
    return value;                                                              \
  }                                                                            \
  VSC_INLINE type vsc_walk_write_##name(struct vsc_walk *walk, vsc_word to,    \
                                        type value) {                          \
    vsc_walk_write##bytes(walk, to, vsc_bits_##name(value));                   \
    return value;                                                              \
  }                                                                            \
  VSC_INLINE type vsc_span_read_##name(struct vsc_span *span, vsc_word array,  \
                                       long i) {                               \
    bits word = vsc_span_read##bytes(span, array, i);                          \
    type value;                                                                \
    __builtin_memcpy(&value, &word, bytes);                                    \
    return value;                                                              \
  }                                                                            \
  VSC_INLINE type vsc_span_write_##name(struct vsc_span *span, vsc_word array, \
                                        long i, type value) {                  \
    vsc_span_write##bytes(span, array, i, vsc_bits_##name(value));             \
    return value;                                                              \
  }                                                                            \
  VSC_INLINE void vsc_span_store_##name(struct vsc_span *span, vsc_word array, \
                                        long i, type value) {                  \
    vsc_span_store##bytes(span, array, i, vsc_bits_##name(value));             \
  }
#if VSC_FLOAT_SIZES & 4
VSC_FLOATS(f, 4, float, unsigned int)
#endif
#if VSC_FLOAT_SIZES & 8
VSC_FLOATS(d, 8, double, unsigned long)
#endif
#if VSC_FLOAT_SIZES & VSC_WALK_SIZES & 4
VSC_WALK_FLOATS(f, 4, float, unsigned int)
#endif
#if VSC_FLOAT_SIZES & VSC_WALK_SIZES & 8
VSC_WALK_FLOATS(d, 8, double, unsigned long)
#endif

/* ---- 5. Spread arrays ---- */

/* Static ones: one object file's function that calls vsc_static_spread for each. Constructors link
 * the units in; the runtime runs them, in every process in the same order, before splitc_main. */
struct vsc_unit {
  struct vsc_unit *next;
  void (*allocate)(void);
};
void vsc_register_unit(struct vsc_unit *unit);
/* Allocates, zeroed, unless *array is set already (the same array, defined in another file: the
 * sizes must agree, else the program is stopped with a sentence). Collective. */
void vsc_static_spread(vsc_word *array, unsigned long count, unsigned long bytes, const char *name,
                       const char *file, int line);

/* A static global pointer that begins as a local one: *this holds its address, and gets the process
 * before splitc_main. */
#define VSC_OWN static vsc_word *const __attribute__((__section__("vsc_own"), __used__))

/* Automatic ones: allocated (zeroed or not) where they are declared, freed where their scope is
 * left. Both collective; a process that makes another call, or asks for another size, stops the program
 * with a sentence that names file and line. */
vsc_word vsc_auto_spread(unsigned long count, unsigned long bytes, const char *name,
                         const char *file, int line);
void vsc_auto_free(vsc_word *array);

/* ---- 6. Functions ---- */

/* Runs thunk(arguments, result) in a poll of the process that @p object points into, and waits for it. The
 * arguments begin with the object's address there. At most 40 bytes each. */
void vsc_atomic(vsc_word object, void (*thunk)(const void *arguments, void *result),
                const void *arguments, unsigned long bytes, void *result,
                unsigned long result_bytes);

/* The program. splitcc defines it beside splitc_main, for any parameters and result; the runtime
 * has a weak one, for a splitc_main in plain C, that calls it with argc, argv and the environment
 * and answers its result. */
int vsc_main(int argc, char **argv);

/* ---- 7. The place of a collective call, for sentences about calls that do not match: set before each
 * by (vsc_at("FILE", LINE), barrier()). Texts are at one address in all processes. ---- */

struct vsc_place_in_source {
  const char *what;
  const char *file;
  int line;
};
extern __thread struct vsc_place_in_source vsc_call_place
    __asm__("_ZN7viaduct6splitc6detail10call_placeE");
VSC_INLINE void vsc_at(const char *file, int line) {
  vsc_call_place.what = (const char *)0;
  vsc_call_place.file = file;
  vsc_call_place.line = line;
}

/* sync() of Split-C: translated programs call it by this name, since POSIX has another one. */
void splitc_sync(void);

#ifdef __cplusplus
}
#else
/* The errno of this thread, for programs that declare the variable of old C libraries. */
int *__errno_location(void);
#endif

#ifdef VSC_CHECKED
#include <split-c/checked.h>
#endif

#endif
