int add(int *p, int by);
void f(int *global g, int *p, int (*h)(int *))
{
    atomic(add, g);
    atomic(add, p, 1);
    atomic(h, g);
    atomic(add);
    atomic(add, 3, 1);
}
