# 1 "parameters.sc"
 vsc_word f ( int n , vsc_word p , vsc_word A , vsc_word X );
 vsc_word f ( n , p , A , X )
  int  n; vsc_word p;
 vsc_word A;
 vsc_word X;
{ __extension__ const unsigned long vsc_n1 __attribute__((__unused__)) = (unsigned long)( n); __extension__ const unsigned long vsc_n2 __attribute__((__unused__)) = (unsigned long)( n); __extension__ const unsigned long vsc_n3 __attribute__((__unused__)) = (unsigned long)( n);
    n = n + 1;
 vsc_write_d( vsc_add( vsc_add( vsc_spread_add( A, (long)(2), (vsc_n2 * (unsigned long)( 3) * sizeof(double))), (long)(1) * (long)(((unsigned long)( 3) * sizeof(double)))), (long)(0) * (long)(sizeof(double))), (double)( vsc_read_f( vsc_add( vsc_spread_add( X, (long)(4), (vsc_n3 * sizeof(float))), (long)(1) * (long)(sizeof(float))))));
    return ( p);
}
int moved(int n, vsc_word P, vsc_word Q, vsc_word s)
{ __extension__ const unsigned long vsc_n6 __attribute__((__unused__)) = (unsigned long)( n); __extension__ const unsigned long vsc_n7 __attribute__((__unused__)) = (unsigned long)( n); __extension__ const unsigned long vsc_n8 __attribute__((__unused__)) = (unsigned long)( n);
 ( P = vsc_spread_add( P, (long)( n - 1), sizeof(int))), ( Q = vsc_spread_add( Q, -1L, (vsc_n8 * (unsigned long)( 2) * sizeof(float)))), ( P = vsc_spread_add( P, 1L, sizeof(int)));
    P = n ? P : s;
 vsc_write_f( vsc_add( vsc_add( vsc_spread_add( vsc_spread_add( Q, (long)(1) * (long)(vsc_n7), (vsc_n8 * (unsigned long)( 2) * sizeof(float))), (long)(2), (vsc_n8 * (unsigned long)( 2) * sizeof(float))), (long)(0) * (long)(((unsigned long)( 2) * sizeof(float)))), (long)(1) * (long)(sizeof(float))), (float)( ((int)vsc_read4(( ({ vsc_word vsc_o12 =  P;  P = vsc_spread_add( P, 1L, sizeof(int)); vsc_o12; })))) + ((int)vsc_read4( vsc_spread_add( P, (long)(2), sizeof(int))))));
    return sizeof P + ( (vsc_spread_rank(P) > vsc_spread_rank( s)) ? sizeof(Q) : sizeof(float [vsc_n8][(unsigned long)( 2)]));
}
int unnamed(int n, vsc_word , vsc_word , vsc_word );
void calls( vsc_word s, vsc_word A)
{
 vsc_word X =  0UL;
    unnamed(3, s, s, A);
    f(7, s, A, X);
}
# 1 "<splitcc>"
