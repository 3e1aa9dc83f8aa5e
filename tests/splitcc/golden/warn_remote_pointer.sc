struct node { int value; struct node *next; int *data; void (*visit)(int); };
int count(struct node *list);
int old(list) struct node *list; { return list->value; }
void show(const char *format, ...);
void read(void *to, void *global from, unsigned long bytes);
struct node *lists[4]::;
int wrong(struct node *global n, struct node **global to, int which)
{
    struct node *p = n->next, *q;
    struct node *global g;
    int sum = count(n->next) + old(n->next) + later(n->next);

    sum += n->next->value + *n->data + n->data[3] + (*to)->value;
    sum += p->value + p->value;
    q := n->next;
    g = n->next;
    sum += count(q + 1);
    if (which) p = n->next;
    else sum += count(p);
    for (p = n->next; p != 0; p = p->next) sum++;
    return sum;
}
int right(struct node *global n, struct node *global own, int owner, int n_data)
{
    struct node *p = n->next;
    struct node *global g = toglobal(toproc(n), p);
    int sum = count((struct node *)n->next) + count(lists[__splitc_myproc]), here[4];

    show("%p", n->next);
    g = toglobal(toproc(n), n->next);
    sum += *toglobal(toproc(n), &n->next->value);
    read(here, toglobal(toproc(n), n->data), n_data * sizeof(n->data[0]) + sizeof *p);
    n->visit(sum);
    if (n->next != 0 && p == 0) sum++;
    if (__splitc_myproc == owner) sum += count(n->next) + p->value;
    if (sum) p = n->next;
    sum += p->value;
    p = p == 0 ? tolocal(own) : p;
    own = tolocal(own);
    sum += p->value + own->next->value;
    return sum;
}
int asks(struct node *global n)
{
    if (toproc(n) == __splitc_myproc) return count(n->next);
    return n->value;
}
int later(struct node *list) { return list->value; }
