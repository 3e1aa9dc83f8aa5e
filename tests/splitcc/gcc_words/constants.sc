#include <split-c/split-c.h>
int t[PROCS];
struct s { int v[PROCS + 1]; };
int f(int x)
{
    switch (x) {
    case PROCS: return 1;
    }
    return 0;
}
enum { e = PROCS };
int mine = MYPROC;
int not_ours[] = { 1, f };
splitc_main()
{
    static int k[PROCS];
    int right[PROCS];
    return right[0] + k[0];
}
