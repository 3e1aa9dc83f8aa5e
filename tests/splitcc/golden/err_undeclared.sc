int f(void)
{
    int i = PROCS;
    return missing + i;
}
