int add(int *p, int by);
void five(int *p, int a, int b, int c, int d, int e);
int number(int n);
int remote(int *global g);
int real(double *p);
void array(int a[]);
void any(void *p);
void f(int *global g, int *p, int (*h)(int *))
{
    atomic(add, g);
    atomic(add, p, 1);
    atomic(h, g);
    atomic(add);
    atomic(add, 3, 1);
    atomic(five, g, 1, 2, 3, 4, 5);
    atomic(number, g);
    atomic(remote, g);
    atomic(real, g);
    atomic(array, g);
    atomic(any, g);
}
