# 1 "names.sc"
void splitc_sync(void);
int global = 3, spread;
int f(int global)
{
    int *spread = &global, v;
 vsc_word p;
    v = *spread * global;
    splitc_sync();
    return v * global + spread[0];
}
struct { int global; char *spread; } s;
 vsc_word spread_too;  int  *plain[2];  int  (*global_row)[2];
struct {  int  *spread[2];  int  (*global)[2]; vsc_word spread_three; } u;
int *h( vsc_word spread, vsc_word global [ ]);
int *h( vsc_word , vsc_word *);
int *h( vsc_word spread, vsc_word global [ ])
{
 vsc_word spread_of;  int  *local; vsc_word global_of =  spread;  int  (*table)[2];
    struct { int *spread, *global; vsc_word global_one [ 2 ]; vsc_word global_two; } t;
    return t.global = t.spread + ( (!vsc_is(global[0])));
}
k(spread, global)  int  *spread; vsc_word global; { return *spread + ((int)vsc_read4((global))); }
# 1 "<splitcc>"
