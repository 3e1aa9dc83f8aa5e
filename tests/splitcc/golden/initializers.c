# 1 "initializers.sc"
typedef struct { vsc_word p; int n; vsc_word s [ 2 ]; } cell;
int here; vsc_word other;
 vsc_word none =  0UL;
cell zero, zeros[2] = { { 0UL, 1, { 0UL, 0UL } } };
void f( vsc_word g, int *p)
{
    cell a = { vsc_global( p), 2, { other, 0UL } };
    cell b = { .n = 1, .p = g, .s = { other } };
    cell c = { vsc_global( &here), 3, other, 0UL };
    cell many[] = { { vsc_global( p) }, { vsc_global( &here), 1 } };
 vsc_word list [ 3 ] =  { vsc_global( p), g, vsc_add(g, (long)(1) * (long)(sizeof(int))) }; vsc_word one =  vsc_global( p);
    int plain[2] = { ((int)vsc_read4((g))), ((int)vsc_read4( vsc_add( g, (long)(1) * (long)(sizeof(int))))) };
    struct { cell inner; int k; } d = { { vsc_global( p), 1 }, ((int)vsc_read4((g))) };
    a = (cell) { vsc_global( p), 4 };
}
# 1 "<splitcc>"
