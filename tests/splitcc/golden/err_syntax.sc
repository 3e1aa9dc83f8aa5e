int f(int a)
{
    a = (a + ;
    if a > 3 return 2;
    return 1
}
int g(void) { return 3; }
unknown_t x;
int *global *spread h(
