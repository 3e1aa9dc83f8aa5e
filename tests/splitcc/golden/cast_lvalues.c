# 1 "cast_lvalues.sc"
char *p; int i, j; void *v;
struct s { int *q; } t;
void f( vsc_word g)
{
    *( (*(int **)&(p)))++ = ((int)vsc_read4((g)));
 (*(int **)&(v)) = &i;
    ( (*(char **)&(t.q))) += 3;
    ( (*(i ? &( i) : &( j)))) = ((int)vsc_read4((g)));
    ( (*(i++, &( j)))) = 1;
 ({ int *vsc_p3 = &( i); char vsc_o3 = (char)((char)*vsc_p3 + ( 2)); *vsc_p3 = (int)vsc_o3; vsc_o3; });
 ({ vsc_word vsc_p5 = (g); short vsc_o5 = (short)(int)vsc_read4(vsc_p5); vsc_write4(vsc_p5, (int)(short)(vsc_o5 + 1)); vsc_o5; });
 vsc_write4( (i ? (g) :  vsc_add( g, (long)(1) * (long)(sizeof(int)))), (int)( 3));
}
# 1 "<splitcc>"
