#pragma once
/// What must not be on the hot path, put there on purpose: the self-test compiles the subjects once
/// with each.

#if defined(VIADUCT_CODEGEN_SEED_CALL)
extern "C" void viaduct_codegen_seeded_call();
#endif
extern "C" long viaduct_codegen_seeded_word;

namespace viaduct::codegen {

inline void seed() {
#if defined(VIADUCT_CODEGEN_SEED_CALL)
  viaduct_codegen_seeded_call();
#elif defined(VIADUCT_CODEGEN_SEED_LOCK)
  __atomic_fetch_add(&viaduct_codegen_seeded_word, 1, __ATOMIC_RELAXED);
#elif defined(VIADUCT_CODEGEN_SEED_EXCHANGE)
  long value = 1;
  asm volatile("xchg %0, %1" : "+r"(value), "+m"(viaduct_codegen_seeded_word));
#elif defined(VIADUCT_CODEGEN_SEED_FENCE)
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  asm volatile("mfence" ::: "memory");
#elif defined(VIADUCT_CODEGEN_SEED_LENGTH)
  asm volatile(".rept 1000\n\tmov %%rax, %%rax\n\t.endr" ::: "memory");
#endif
}

}  // namespace viaduct::codegen
