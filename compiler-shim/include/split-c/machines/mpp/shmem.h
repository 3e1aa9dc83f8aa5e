/* mpp/shmem.h: of the T3D. split-c/shmem.h has the parts that exist here. */
#include <split-c/shmem.h>
