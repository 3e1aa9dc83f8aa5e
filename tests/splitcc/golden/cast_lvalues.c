# 1 "cast_lvalues.sc"
char *p; int i, j; void *v;
struct s { int *q; } t;
void f( vsc_word g)
{
    *( (*(int **)&(p)))++ = ((int)vsc_read4((g)));
 (*(int **)&(v)) = &i;
    ( (*(char **)&(t.q))) += 3;
    ( (*(i ? &( i) : &( j)))) = ((int)vsc_read4((g)));
}
# 1 "<splitcc>"
