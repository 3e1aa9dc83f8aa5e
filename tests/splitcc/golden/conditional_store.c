# 1 "conditional_store.sc"
int f(int a, int b, vsc_word g)
{
    a = a ? b :-1;
    a = (a ? (b) :-b) ? a ? 1 :-2 :-3;
 vsc_store4((g), (int)( a ? b :-1));
    return a ? b, a :-b;
}
# 1 "<splitcc>"
