# 1 "warn_remote_pointer.sc"
struct node { int value; struct node *next; int *data; void (*visit)(int); };
int count(struct node *list);
int old(list) struct node *list; { return list->value; }
void show(const char *format, ...);
void read(void *to, vsc_word from, unsigned long bytes);
 vsc_word lists;
int later();  int wrong( vsc_word n, vsc_word to, int which)
{
    struct node *p = ((struct node *)vsc_read8( ( n + __builtin_offsetof(struct node, next)))), *q;
 vsc_word g;
    int sum = count( ((struct node *)vsc_read8( (n + __builtin_offsetof(struct node, next))))) + old( ((struct node *)vsc_read8( (n + __builtin_offsetof(struct node, next))))) + later( ((struct node *)vsc_read8( (n + __builtin_offsetof(struct node, next)))));

    sum += ((struct node *)vsc_read8( ( n + __builtin_offsetof(struct node, next))))->value + * ((int *)vsc_read8( (n + __builtin_offsetof(struct node, data)))) + ((int *)vsc_read8( ( n + __builtin_offsetof(struct node, data))))[3] + ((struct node *)vsc_read8((to)))->value;
    sum += p->value + p->value;
 vsc_get8(&( q),  ( n + __builtin_offsetof(struct node, next)));
    g = vsc_global( ((struct node *)vsc_read8( ( n + __builtin_offsetof(struct node, next)))));
    sum += count(q + 1);
    if (which) p = ((struct node *)vsc_read8( ( n + __builtin_offsetof(struct node, next))));
    else sum += count(p);
    for (p = ((struct node *)vsc_read8( ( n + __builtin_offsetof(struct node, next)))); p != 0; p = p->next) sum++;
    return sum;
}
int right( vsc_word n, vsc_word own, int owner, int n_data)
{
    struct node *p = ((struct node *)vsc_read8( ( n + __builtin_offsetof(struct node, next))));
 vsc_word g =  vsc_toglobal( vsc_process(n),  p);
    int sum = count((struct node *) ((struct node *)vsc_read8( (n + __builtin_offsetof(struct node, next))))) + count( ((struct node *)vsc_read8( vsc_spread_add(lists, (long)(vsc_myproc()), sizeof(struct node *))))), here[4];

    show("%p", ((struct node *)vsc_read8( ( n + __builtin_offsetof(struct node, next)))));
    g = vsc_toglobal( vsc_process(n),  ((struct node *)vsc_read8( ( n + __builtin_offsetof(struct node, next)))));
    sum += ((int)vsc_read4(( vsc_toglobal( vsc_process(n),  & ((struct node *)vsc_read8( (n + __builtin_offsetof(struct node, next))))->value))));
    read(here, vsc_toglobal( vsc_process(n),  ((int *)vsc_read8( ( n + __builtin_offsetof(struct node, data))))), n_data * sizeof(int) + sizeof *p);
 ((void (*)(int))vsc_read8( ( n + __builtin_offsetof(struct node, visit))))(sum);
    if ( ((struct node *)vsc_read8( (n + __builtin_offsetof(struct node, next)))) != 0 && p == 0) sum++;
    if (vsc_myproc() == owner) sum += count( ((struct node *)vsc_read8( (n + __builtin_offsetof(struct node, next))))) + p->value;
    if (sum) p = ((struct node *)vsc_read8( ( n + __builtin_offsetof(struct node, next))));
    sum += p->value;
    p = p == 0 ? ((struct node *)vsc_local(own)) : p;
    own = vsc_global( ((struct node *)vsc_local(own)));
    sum += p->value + ((struct node *)vsc_read8( ( own + __builtin_offsetof(struct node, next))))->value;
    return sum;
}
int asks( vsc_word n)
{
    if ( vsc_process(n) == vsc_myproc()) return count( ((struct node *)vsc_read8( (n + __builtin_offsetof(struct node, next)))));
    return ((int)vsc_read4( ( n + __builtin_offsetof(struct node, value))));
}
int later(struct node *list) { return list->value; }
# 1 "<splitcc>"
static void vsc_allocate_statics(void) {
  vsc_static_spread(&lists, (unsigned long)( 4), sizeof(struct node *), "lists", "warn_remote_pointer.sc", 6);
}
static struct vsc_unit vsc_this_unit = {0, vsc_allocate_statics};
static void __attribute__((__constructor__)) vsc_construct_unit(void) {
  vsc_register_unit(&vsc_this_unit);
}
