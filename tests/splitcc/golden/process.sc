int row[__splitc_procs]::[__splitc_procs];
int f()
{
    if (__splitc_procslog < 0) return __splitc_procs;
    return row[__splitc_myproc][(__splitc_myproc + 1) % __splitc_procs];
}
