int *global g;
calls(a) int *a;
{
    later(tolocal(g), a);
    taken(g);
}
later(p, s) int *global p, *spread s; { return *p + *s; }
taken(p) int *p; { return *p; }
calls_again() { return taken(g) + later(g, &g); }
