/* Functions of the C library that nothing declares, as when an int held a pointer. */
#include <split-c/split-c.h>
splitc_main()
{
    int *p = (int *) malloc(40);
    int *q = malloc(40);
    double d = sqrt(2.0), e = fabs(-3.5);
    int *global g = (int *) malloc(8);
    char *s = getenv("VIADUCT_SPLITC_PATH"), *t = strdup("abc"), *f = fopen("/dev/null", "r");
    p[9] = 1; q[9] = 2; *g = 5;
    if (d < 1.4 || d > 1.5 || e != 3.5) return 1;
    if (p[9] + q[9] + *g != 8) return 2;
    if (strlen(s) == 0) return 3;
    if (strcmp(t, "abc")) return 4;
    fclose(f);
    {
        int *global direct = malloc(8), *global cast = (int *global) calloc(2, 4);

        if (toproc(direct) != MYPROC || toproc(cast) != MYPROC) return 5;
        *direct = 6;
        if (*direct + cast[1] != 6) return 6;
    }
    return 0;
}
