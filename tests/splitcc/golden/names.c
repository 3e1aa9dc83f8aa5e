# 1 "names.sc"
void splitc_sync(void);
int global = 3, spread;
int f(int global)
{
    int *spread = &global, v;
 vsc_word p;
    v = *spread * global;
    splitc_sync();
    return v * global + spread[0];
}
struct { int global; char *spread; } s;
# 1 "<splitcc>"
