/* Mistake with pointers: a local pointer of another process becomes a global one */
#include <split-c/split-c.h>

struct node {
    int value;
    struct node *next;
};

struct node *global second(struct node *global n)
{
    struct node *global next = n->next; /* here */

    return next;
}
