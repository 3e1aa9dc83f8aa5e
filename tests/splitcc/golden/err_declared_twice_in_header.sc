# 1 "today.h" 1 3
extern void *reserve(unsigned long);
extern int reserve;
# 5 "err_declared_twice_in_header.sc" 2
extern char *reserve();
int f(void)
{
    return reserve() != 0;
}
