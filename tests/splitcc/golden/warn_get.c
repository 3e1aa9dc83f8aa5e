# 1 "warn_get.sc"
void splitc_sync(void);
void mine(void);
int f( vsc_word g, vsc_word s)
{
    int x, y, z;
 vsc_get4(&( x), (g));
 vsc_get4(&( y),  vsc_spread_add( s, (long)(1), sizeof(int)));
    z = y + 1;
    splitc_sync();
    z += x;
 vsc_get4(&( x),  vsc_add( g, (long)(1) * (long)(sizeof(int))));
    mine();
    return x + z;
}
# 1 "<splitcc>"
