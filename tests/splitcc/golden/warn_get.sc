void sync(void);
void mine(void);
int f(int *global g, int *spread s)
{
    int x, y, z;
    x := *g;
    y := s[1];
    z = y + 1;
    sync();
    z += x;
    x := g[1];
    mine();
    return x + z;
}
