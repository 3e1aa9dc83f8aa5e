void f(int x, int *p)
{
    *p :- 3;
}
