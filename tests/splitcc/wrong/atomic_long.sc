/* Mistake with atomic: an argument of atomic is too long */
#include <split-c/split-c.h>

struct particle {
    double at[3], speed[3];
} cells[64]::;

void move(struct particle *cell, struct particle p)
{
    *cell = p;
}

void send(int to, struct particle p)
{
    atomic(move, &cells[to], p); /* here */
}
