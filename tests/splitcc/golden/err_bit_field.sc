struct s { int a : 3, b; };
void f(struct s *global g)
{
    g->a :- 1;
    &g->a;
}
