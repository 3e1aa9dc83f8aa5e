int use(int n)
{
    void *to[3];
    to[0] = &&inside, to[1] = &&behind, to[2] = &&behind;
    {
        int T[n]::;
        T[0] = n;
        goto *to[n];
inside:
        n++;
        goto behind;
    }
behind:
    return n;
}

int stay(int n)
{
    void *to[2];
    int T[n]::;
    to[0] = &&one, to[1] = &&two;
    if (n < 2) goto *to[n];
one:
    n = T[0];
two:
    { int U[n]::; U[0] = 1; }
    return n;
}

int nested(int n)
{
    __label__ out;
    void leave(void) { int own[n]::; own[0] = 1; goto out; }
    void part(void) { if (n == 1) goto end; n = 1; end: n++; }
    void not_here(void) { goto out; }
    {
        int T[n]::;
        T[0] = n;
        part();
        if (n > 2) leave();
    }
    not_here();
out:
    return n;
}

int called(int n)
{
    __label__ out;
    void leave(void) { goto out; }
    {
        int T[n]::;
        T[0] = n;
        leave();
    }
out:
    return n;
}
