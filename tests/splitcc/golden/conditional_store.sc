int f(int a, int b, int *global g)
{
    a = a ? b :-1;
    a = (a ? (b) :-b) ? a ? 1 :-2 :-3;
    *g :- a ? b :-1;
    return a ? b, a :-b;
}
