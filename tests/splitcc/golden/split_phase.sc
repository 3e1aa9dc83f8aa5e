struct point { double x, y; } here;
int i, *local; double d; char c; int *global q;
void f(int *global g, double *spread s, struct point *global gp, int *global *global gg, char *spread sc)
{
    register int r;
    i := *g;
    d := s[3];
    here := *gp;
    q := *gg;
    local[i + 1] := g[2];
    r := g[1];
    *g := i + 1;
    s[i] := d * 2;
    *gp := here;
    *gg := g;
    *g :- i;
    s[i++] :- d + 1, sc[2] :- 'x';
    *gp :- here;
    *gg :- g;
    g[1] := g[2];
}
