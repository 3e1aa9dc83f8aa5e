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
void gets(_Bool *global b, char *global c, _Complex double *global d, _Float128 *global q, unsigned __int128 *global u)
{
    _Bool to_bool;
    char to_char;
    _Complex float to_complex;
    _Complex double to_wide;
    _Float32 to_float;
    _Float128 to_long;
    __int128 to_int;
    to_bool := *c;
    to_bool := *b;
    to_char := *b;
    to_complex := *d;
    to_wide := *d;
    to_float := *q;
    to_long := *q;
    to_int := *u;
}
