int f(int *global g, int *spread s, int i, unsigned u, long l, int *p, void *global v)
{
    g = g + i, g = i + g, g = g - u;
    s = s + l, s = s - i, s = 1 + s;
    v = v + 1;
    l = g - &g[3];
    l = s - (s + 2);
    if (g == 0 || s != (void *)0 || !g || s && g) return g == p;
    if (g == s) return s < s + 1;
    while (g) g = i ? g : 0;
    g = i ? p : g;
    return g != p ? g <= g + 1 : !s;
}
