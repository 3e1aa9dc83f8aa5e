# 1 "warn_library.sc"
int *space;
int barrier(void);
int spread_malloc();  int f(void)
{
    space = all_malloc(40);
    return barrier() + all_scan_add(3) + spread_malloc();
}
spread_malloc() { return 0; }
# 1 "<splitcc>"
