typedef int v4 __attribute__((vector_size(16)));
v4 V[4]::;
int W[4]:: __attribute__((vector_size(16)));
int unnamed __attribute__((vector_size(16)));
int f(__builtin_va_list *global list)
{
    V[1][2] = 3;
    ++V[1][2];
    &V[1][2];
    (void)*(toglobal(0, &unnamed));
    (void)*list;
}
