/* What pointer_main.sc calls. */
#include <stdlib.h>
struct cell { int value; struct cell *next; };

struct cell *first(value)
{
    struct cell *c = (struct cell *)malloc(sizeof(struct cell));
    c->value = value;
    c->next = 0;
    return c;
}
struct cell *second(next, value) struct cell *next;
{
    struct cell *c = first(value);
    c->next = next;
    return c;
}
length(c) struct cell *c; { return c ? 1 + length(c->next) : 0; }
