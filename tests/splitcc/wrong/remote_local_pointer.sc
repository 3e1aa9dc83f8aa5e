/* Mistake with pointers: a list of another process is walked with its local pointers */
#include <split-c/split-c.h>

struct node {
    int value;
    struct node *next;
};

int count(struct node *list);

int others(struct node *global n)
{
    return 1 + count(n->next); /* here */
}
