/* Each process writes its number into its right neighbour's memory; then all add up what they got. */
#include <shmem.h>
#include <stdio.h>

int from_left; /* symmetric: every process has `from_left` at a place that the others know */
int sum, work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
long psync[SHMEM_REDUCE_SYNC_SIZE];

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), processes = shmem_n_pes();
  shmem_int_p(&from_left, me, (me + 1) % processes);
  for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++) psync[i] = SHMEM_SYNC_VALUE;
  shmem_barrier_all();
  shmem_int_sum_to_all(&sum, &from_left, 1, 0, 0, processes, work, psync); /* until 1.4 */
  printf("process %d has %d, the sum is %d\n", me, from_left, sum);
  int wrong = sum != processes * (processes - 1) / 2;
  shmem_finalize();
  return wrong;
}
