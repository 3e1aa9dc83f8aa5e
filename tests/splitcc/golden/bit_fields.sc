struct s { int a : 3, b; struct { unsigned c : 9; } in; };
struct s A[4]::;
void f(struct s *global g, struct s *l)
{
    int x = g->a;
    g->a = A[1].in.c = 1;
    g->a++, --A[2].in.c;
    x = (*g).in.c--;
    g->in.c |= g->b;
    A[x].a := 2;
    x := g->a;
    l->a := g->b;
}
