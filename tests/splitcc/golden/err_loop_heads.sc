int f(int *global g)
{
    for (int *global h = g, i = 0; i < 3; i++) ;
    for (int i = 0; i < 3; i++) ;
}
