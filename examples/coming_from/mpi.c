/* Each process writes its number into its right neighbour's memory; then all add up what they got. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  int me, processes, *from_left, sum;
  MPI_Win window;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &from_left, &window);
  MPI_Win_fence(0, window);
  MPI_Put(&me, 1, MPI_INT, (me + 1) % processes, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  MPI_Allreduce(from_left, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("process %d has %d, the sum is %d\n", me, *from_left, sum);
  MPI_Win_free(&window);
  MPI_Finalize();
  return sum == processes * (processes - 1) / 2 ? 0 : 1;
}
