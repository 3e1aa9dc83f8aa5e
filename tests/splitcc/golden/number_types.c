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
void gets( vsc_word b, vsc_word c, vsc_word d, vsc_word q, vsc_word u)
{
    _Bool to_bool;
    char to_char;
    _Complex float to_complex;
    _Complex double to_wide;
    _Float32 to_float;
    _Float128 to_long;
    __int128 to_int;
    to_bool = ((char)vsc_read1((c)));
 vsc_get1(&( to_bool), (b));
 vsc_get1(&( to_char), (b));
    to_complex = ({ _Complex double vsc_t20; vsc_read(&vsc_t20, (d), sizeof vsc_t20); vsc_t20; });
 vsc_get(&( to_wide), (d), sizeof(_Complex double));
    to_float = ({ _Float128 vsc_t23; vsc_read(&vsc_t23, (q), sizeof vsc_t23); vsc_t23; });
 vsc_get(&( to_long), (q), sizeof(_Float128));
 vsc_get(&( to_int), (u), sizeof(unsigned __int128));
}
# 1 "<splitcc>"
