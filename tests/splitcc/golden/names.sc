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
