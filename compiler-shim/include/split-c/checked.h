/* split-c/checked.h: functions that a file compiled by splitcc --checked calls in place of the accesses
 * of split-c/runtime.h, which includes this. Each function notes the access with the place of the call
 * and then does what its namesake does; writes end in a full fence. See docs/splitc-checked.md.
 */
#ifndef VSC_SPLIT_C_CHECKED_H
#define VSC_SPLIT_C_CHECKED_H

#ifdef __cplusplus
extern "C" {
#endif

void vsc_checked_read(void *to, vsc_word from, unsigned long bytes);
void vsc_checked_write(vsc_word to, const void *from, unsigned long bytes);
void vsc_checked_get(void *to, vsc_word from, unsigned long bytes);
void vsc_checked_put(vsc_word to, const void *from, unsigned long bytes);
void vsc_checked_store(vsc_word to, const void *from, unsigned long bytes);
void vsc_checked_write_bits(vsc_word to, const void *value, const void *mask, unsigned long bytes);

#define VSC_CHECKED_WORDS(bytes, type)                       \
  type vsc_checked_read##bytes(vsc_word from);               \
  type vsc_checked_write##bytes(vsc_word to, type value);    \
  void vsc_checked_get##bytes(void *to, vsc_word from);      \
  type vsc_checked_put##bytes(vsc_word to, type value);      \
  void vsc_checked_store##bytes(vsc_word to, type value);
VSC_CHECKED_WORDS(1, unsigned char)
VSC_CHECKED_WORDS(2, unsigned short)
VSC_CHECKED_WORDS(4, unsigned int)
VSC_CHECKED_WORDS(8, unsigned long)

#define VSC_CHECKED_FLOATS(name, type)                      \
  type vsc_checked_read_##name(vsc_word from);              \
  type vsc_checked_write_##name(vsc_word to, type value);   \
  type vsc_checked_put_##name(vsc_word to, type value);     \
  type vsc_checked_store_##name(vsc_word to, type value);
VSC_CHECKED_FLOATS(f, float)
VSC_CHECKED_FLOATS(d, double)

/* Accesses in a loop: no stretch is remembered, so that each access is noted. */
#define VSC_CHECKED_WALKS(name, type)                                                              \
  type vsc_checked_walk_read##name(struct vsc_walk *walk, vsc_word from);                          \
  type vsc_checked_walk_write##name(struct vsc_walk *walk, vsc_word to, type value);               \
  type vsc_checked_span_read##name(struct vsc_span *span, vsc_word array, long i);                 \
  type vsc_checked_span_write##name(struct vsc_span *span, vsc_word array, long i, type value);    \
  void vsc_checked_span_store##name(struct vsc_span *span, vsc_word array, long i, type value);
VSC_CHECKED_WALKS(1, unsigned char)
VSC_CHECKED_WALKS(2, unsigned short)
VSC_CHECKED_WALKS(4, unsigned int)
VSC_CHECKED_WALKS(8, unsigned long)
VSC_CHECKED_WALKS(_f, float)
VSC_CHECKED_WALKS(_d, double)

#ifdef __cplusplus
}
#endif

#ifdef VSC_CHECKED
/* -fsplitc-sc makes macros of these two. */
#undef vsc_write
#undef vsc_write_bits
#define vsc_read vsc_checked_read
#define vsc_write vsc_checked_write
#define vsc_get vsc_checked_get
#define vsc_put vsc_checked_put
#define vsc_store vsc_checked_store
#define vsc_write_bits vsc_checked_write_bits
#define vsc_read1 vsc_checked_read1
#define vsc_read2 vsc_checked_read2
#define vsc_read4 vsc_checked_read4
#define vsc_read8 vsc_checked_read8
#define vsc_read_f vsc_checked_read_f
#define vsc_read_d vsc_checked_read_d
#define vsc_write1 vsc_checked_write1
#define vsc_write2 vsc_checked_write2
#define vsc_write4 vsc_checked_write4
#define vsc_write8 vsc_checked_write8
#define vsc_write_f vsc_checked_write_f
#define vsc_write_d vsc_checked_write_d
#define vsc_get1 vsc_checked_get1
#define vsc_get2 vsc_checked_get2
#define vsc_get4 vsc_checked_get4
#define vsc_get8 vsc_checked_get8
#define vsc_put1 vsc_checked_put1
#define vsc_put2 vsc_checked_put2
#define vsc_put4 vsc_checked_put4
#define vsc_put8 vsc_checked_put8
#define vsc_put_f vsc_checked_put_f
#define vsc_put_d vsc_checked_put_d
#define vsc_store1 vsc_checked_store1
#define vsc_store2 vsc_checked_store2
#define vsc_store4 vsc_checked_store4
#define vsc_store8 vsc_checked_store8
#define vsc_store_f vsc_checked_store_f
#define vsc_store_d vsc_checked_store_d
#define vsc_walk_read1 vsc_checked_walk_read1
#define vsc_walk_read2 vsc_checked_walk_read2
#define vsc_walk_read4 vsc_checked_walk_read4
#define vsc_walk_read8 vsc_checked_walk_read8
#define vsc_walk_read_f vsc_checked_walk_read_f
#define vsc_walk_read_d vsc_checked_walk_read_d
#define vsc_walk_write1 vsc_checked_walk_write1
#define vsc_walk_write2 vsc_checked_walk_write2
#define vsc_walk_write4 vsc_checked_walk_write4
#define vsc_walk_write8 vsc_checked_walk_write8
#define vsc_walk_write_f vsc_checked_walk_write_f
#define vsc_walk_write_d vsc_checked_walk_write_d
#define vsc_span_read1 vsc_checked_span_read1
#define vsc_span_read2 vsc_checked_span_read2
#define vsc_span_read4 vsc_checked_span_read4
#define vsc_span_read8 vsc_checked_span_read8
#define vsc_span_read_f vsc_checked_span_read_f
#define vsc_span_read_d vsc_checked_span_read_d
#define vsc_span_write1 vsc_checked_span_write1
#define vsc_span_write2 vsc_checked_span_write2
#define vsc_span_write4 vsc_checked_span_write4
#define vsc_span_write8 vsc_checked_span_write8
#define vsc_span_write_f vsc_checked_span_write_f
#define vsc_span_write_d vsc_checked_span_write_d
#define vsc_span_store1 vsc_checked_span_store1
#define vsc_span_store2 vsc_checked_span_store2
#define vsc_span_store4 vsc_checked_span_store4
#define vsc_span_store8 vsc_checked_span_store8
#define vsc_span_store_f vsc_checked_span_store_f
#define vsc_span_store_d vsc_checked_span_store_d
#endif

#endif
