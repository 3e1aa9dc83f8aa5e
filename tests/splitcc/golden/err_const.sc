struct s { const int id; int n; struct { int deep[2]; } in; };
const int A[4]::[2];
void f(const int *global g, const struct s *spread c, struct s *global s, int *const *global p)
{
    *g = 1;
    g[2] += 1;
    A[1][0] := 3;
    c->n++;
    c->in.deep[1] :- 2;
    s->id = 5;
    s->n = *g + A[0][0], s->in.deep[0] = 1;
    *&c->n = 1, *c->in.deep = 3, (&c[1].in)->deep[0] = 4;
    g++, c = 0;
    **p = 3;
}
int x, *global const own = &x;
struct { int n; int *global const g; } part;
const struct { int n; int *global g; } all = { 1, &x };
void g(int *global const *l)
{
    int *global const here = &x;
    own = 0, own++, part.g = 0, part.n = 1, all.n = 2, all.g = 0, here = 0;
}
struct list { int n; struct { const char code[2]; } entry[3]; };
union list_of { struct list list; int n; } *spread lists;
void h(struct list *global p, struct list *mine)
{
    *p = *mine;
    lists->list = *p, lists[1] :- lists[0];
    p->n = 1;
    *mine := *p;
}
