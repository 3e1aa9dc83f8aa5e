void sync(void);
int global = 3, spread;
int f(int global)
{
    int *spread = &global, v;
    int *global p;
    v = *spread * global;
    sync();
    return v * global + spread[0];
}
struct { int global; char *spread; } s;
int *global spread_too, *plain[2], (*global_row)[2];
struct { int *spread[2], (*global)[2], *global spread_three; } u;
int *h(int *global spread, int *spread global[]);
int *h(int *global, int *spread *);
int *h(int *global spread, int *spread global[])
{
    int *global spread_of, *local, *global global_of = spread, (*table)[2];
    struct { int *spread, *global; int *global global_one[2], *spread global_two; } t;
    return t.global = t.spread + (global[0] == (int *spread) 0);
}
k(spread, global) int *spread, *global global; { return *spread + *global; }
