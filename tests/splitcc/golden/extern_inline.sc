int declared(int *global), other;
int pointed(const char *, int);
static int own();
extern inline int declared(int *global g) { return *g; }
extern inline pointed(const char *text, int n) { return n ? pointed(text + 1, n - 1) : *text; }
extern inline int own() { return 9; }
extern inline int alone(int x) { return x + 1; }
caller()
{
    int in_block();
    return in_block(1) + called_only(2) + pointed("abc", 3);
}
__inline__ extern int in_block(int x) { return x + 100; }
extern __inline__ called_only(x) { return -x; }
extern int declared(int *global);
int (*address)(const char *, int) = pointed;
/* The real definitions stand in this file. */
int later_1(int);
extern inline int later_1(int x) { return x * 2; }
extern inline int later_2(int x) { return x * 3; }
use() { return later_1(1) + later_2(2); }
int later_1(int x) { return x * 2; }
int later_2(int x) { return x * 3; }
