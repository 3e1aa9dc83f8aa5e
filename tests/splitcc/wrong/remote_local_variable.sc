/* Mistake with pointers: a local pointer of another process is kept and followed */
#include <split-c/split-c.h>

struct matrix {
    int n;
    double *rows;
};

double corner(struct matrix *global m)
{
    double *rows = m->rows;

    return rows[0]; /* here */
}
