# 2 "number_types.sc"
void f( vsc_word u, vsc_word s, vsc_word l, vsc_word d, vsc_word w
                                  , vsc_word c, vsc_word q, vsc_word g)
{
    _Bool more = ({ unsigned __int128 vsc_t1; vsc_read(&vsc_t1, (u), sizeof vsc_t1); vsc_t1; }) > 5;
 ({ _Complex short vsc_t2 =  3 + 4i; vsc_write((s), &vsc_t2, sizeof vsc_t2); });
 ({ _Complex long vsc_t4 =  ({ _Complex long vsc_t3; vsc_read(&vsc_t3, (l), sizeof vsc_t3); vsc_t3; }) + 1; vsc_write((l), &vsc_t4, sizeof vsc_t4); });
 ({ _Complex double vsc_t7 =  ({ _Complex unsigned int vsc_t5; vsc_read(&vsc_t5, (w), sizeof vsc_t5); vsc_t5; }) + ({ _Complex float vsc_t6; vsc_read(&vsc_t6, (c), sizeof vsc_t6); vsc_t6; }); vsc_write((d), &vsc_t7, sizeof vsc_t7); });
 ({ _Complex _Float128 vsc_t10 =  ({ _Float128 vsc_t8; vsc_read(&vsc_t8,  ((q) + sizeof(_Float128)), sizeof vsc_t8); vsc_t8; }) + ({ _Float128 vsc_t9; vsc_read(&vsc_t9,  ((q)), sizeof vsc_t9); vsc_t9; }); vsc_write((q), &vsc_t10, sizeof vsc_t10); });
    more = sizeof(_Complex double) + sizeof(_Complex float) + sizeof(_Complex float) + sizeof(_Complex float) > 1;
}
# 1 "<splitcc>"
