int f(int x, int *p)
{
    *p :- 3;
    return x ? 1 :-1;
}
