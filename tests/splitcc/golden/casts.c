# 1 "casts.sc"
int here[4];
void f( vsc_word g, vsc_word s, vsc_word v, unsigned long w)
{
    int *p;
 vsc_word d;
    g = vsc_global( here), v = vsc_global( here), g = vsc_global((p));
    s = vsc_global((&here[1]));
    p = ((int *)vsc_local(g)), p = ((int *)vsc_local(( vsc_spread_add(s, (long)( 2), sizeof(int)))));
    g = (s), s = (g), v = s;
    d = (s);
    w = ((unsigned long)(g));
    g = ((vsc_word)(long)(w));
    g = 0UL;
    p = ((int *)vsc_local(g)), p = ((int *)vsc_local(s)), p = ((int *)vsc_local( vsc_spread_add(s, (long)(1), sizeof(int))));
    w = vsc_process(g) + vsc_process( vsc_spread_add(s, (long)( 3), sizeof(int))) + vsc_process((s));
    g = vsc_toglobal(2,  p);
    g = vsc_toglobal(w,  &here[2]);
 ((void)(g));
}
# 1 "<splitcc>"
