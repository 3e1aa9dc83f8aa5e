/* mpp/shmem.h: of the T3D. split-c/shmem.h has what there is of it here. */
#include <split-c/shmem.h>
