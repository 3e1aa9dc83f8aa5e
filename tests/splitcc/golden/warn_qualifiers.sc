struct s { int x; int row[3]; struct { int deep[2]; char *text; } in; struct { const int one; int *global next; }; };
const struct s *global g;
volatile struct s V[4]::;
const int *global ro;
const volatile int *spread both;
const struct { struct { int inner; }; } unnamed;
int n;
void take(int *global p, void *global v, int A[3]::);
void old();
char *global text(const char *global from) { return from; }
void lost(void)
{
    int *global p = &g->x;
    int *global q = g->row;
    int *global r = &unnamed.inner;
    int *global const *global words = &g->next;
    void *global any;
    p = g->in.deep, p = ro, any = ro;
    p = &V[1].x;
    take(ro, &g->x, both);
    p = n ? ro : p;
    p := *(const int *global *global)any;
    int *l = tolocal(ro);
    l = *(const int **global)any;
    struct { int *global word; } made = { ro };
    p = words ? &n : (const int *)0;
}
char *right(const char *name, char *global mine)
{
    const int *global p = &g->x, *global q = g->row, *global const *global words = (void *global)&g->next;
    const void *global any = ro;
    char *global s = "text", *end = g->in.text;
    int *global cast = (int *global)ro, i = *ro + g->x;
    __auto_type copy = g->next;
    copy = 0;
    p = n ? ro : &n, p = n ? &n : p, i = p == &n, i = ro - cast, q = 0, any = mine;
    n = *both + V[2].row[1], name = end, old(ro, p), (void)words;
    return s == any ? (char *)name : g->in.text;
}
