/* Numbers of another process, of rare types. */
void f(__uint128_t *global u, _Complex short *global s, long _Complex *global l, _Complex *global d,
       unsigned _Complex *global w, _Complex float *global c, _Complex _Float128 *global q, float *global g)
{
    _Bool more = *u > 5;
    *s = 3 + 4i;
    *l = *l + 1;
    *d = *w + *c;
    *q = __imag__ *q + __real__ *q;
    more = sizeof(*g * 1.0i) + sizeof(*g * 1i) + sizeof(*g * 1.0fi) + sizeof(*g * 1.0if) > 1;
}
