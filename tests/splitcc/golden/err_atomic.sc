int add(int *p, int by);
void five(int *p, int a, int b, int c, int d, int e);
void f(int *global g, int *p, int (*h)(int *))
{
    atomic(add, g);
    atomic(add, p, 1);
    atomic(h, g);
    atomic(add);
    atomic(add, 3, 1);
    atomic(five, g, 1, 2, 3, 4, 5);
}
