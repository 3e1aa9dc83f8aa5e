/* splitcc -std=gnu11 */
int A[4]::;
int f(int *restrict p, int *global restrict g, int *global *restrict h) { return *p + *g + **h; }
_Atomic(int *global) word;
_Atomic(int) *global counter;
unsigned short *s = u"a", c = u'x';
int *global g(void) { return _Generic(U'x', int: 0, unsigned: &A[1]); }
