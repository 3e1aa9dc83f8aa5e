/* mpp/shmem.h: of the T3D. What there is of it here is in split-c/machines.h. */
#include <split-c/machines.h>
