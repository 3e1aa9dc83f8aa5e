# 1 "warn_loop.sc"
int f( vsc_word g, vsc_word s, vsc_word A, double *to)
{ struct vsc_walk vsc_w1 __attribute__((__unused__)) = {0}; struct vsc_span vsc_w2 __attribute__((__unused__)) = {0}; struct vsc_walk vsc_w4 __attribute__((__unused__)) = {0}; struct vsc_walk vsc_w3 __attribute__((__unused__)) = {0}; struct vsc_walk vsc_w7 __attribute__((__unused__)) = {0};
    int i, j, sum = 0;
    for (i = 0; i < 8; i++) sum += ((int)vsc_walk_read4(&vsc_w1,  vsc_add( g, (long)(i) * (long)(sizeof(int)))));
    for (i = 0; i < 8; i++) sum += ((int)vsc_span_read4(&vsc_w2,  s, (long)(i)));
    for (i = 0; i < 10; i++)
        for (j = 0; j < 8; j++) vsc_walk_write4(&vsc_w4,  vsc_add( vsc_spread_add( A, (long)(i), ((unsigned long)( 8) * sizeof(int))), (long)(j) * (long)(sizeof(int))), (int)( ((int)vsc_walk_read4(&vsc_w3, (( vsc_add( vsc_add(g, (long)( i) * (long)(sizeof(int))), (long)( j) * (long)(sizeof(int)))))))));
    for (i = 0; i < 8; i++) vsc_write4( vsc_add( g, (long)(2 * i) * (long)(sizeof(int))), (int)( sum));
    for (i = 0; i < 8; i++) vsc_store4( vsc_add( g, (long)(i) * (long)(sizeof(int))), (int)( sum));
    for (i = 0; i < 8; i += 2) sum += ((int)vsc_walk_read4(&vsc_w7,  vsc_add( g, (long)(i) * (long)(sizeof(int)))));
    return sum;
}
# 1 "<splitcc>"
