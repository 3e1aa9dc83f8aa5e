/* Calls functions of pointer_other.sc without declarations. */
#include <stdlib.h>
#include <split-c/split-c.h>
struct cell { int value; struct cell *next; };

splitc_main(argc, argv)
char **argv;
{
    struct cell *c = (struct cell *)first(7), *d = second(c, 8);

    if (c->value != 7 || d->value != 8 || d->next != c) exit(1);
    if (length(d) != 2) exit(2);
    d = c;
    if ((d = second(c, 9))->value != 9) exit(3);
}
