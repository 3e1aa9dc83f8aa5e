/*
 * tree: a binary search tree whose nodes lie in all processes' heaps, linked by
 * global pointers in structures.
 *
 *      splitcc -O2 examples/split-c/tree.sc -o tree
 *      viaduct-run -n 4 ./tree 500
 *
 * Arguments: [keys per process]
 *
 * Process 0 makes the root. Then everybody inserts keys of its own, one after
 * the other; a new node lies in the process that inserts it. Links are set by
 * functions that run at their owner, so that two inserters do not lose one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <split-c/split-c.h>
#include <split-c/control.h>

struct tree {
    int key;
    int count;                          /* how often the key was inserted */
    struct tree *global child[2];
};

typedef struct tree *global link_t;

link_t root;                            /* in process 0 */

/* Runs where the parent lies: 0 when somebody else has set the link before. */
int set_link(parent, which, to)
struct tree *parent;
int which;
link_t to;
{
    if (parent->child[which]) return 0;
    parent->child[which] = to;
    return 1;
}

int count_up(node)
struct tree *node;
{
    return ++node->count;
}

link_t new_node(key)
int key;
{
    struct tree *n = (struct tree *) malloc(sizeof(struct tree));

    n->key = key;
    n->count = 1;
    n->child[0] = n->child[1] = NULL;
    return toglobal(MYPROC, n);
}

void insert(at, key)
link_t at;
int key;
{
    link_t fresh = NULL;

    while (at->key != key) {
        int which = key > at->key;
        link_t next = at->child[which];

        if (next == NULL) {
            if (fresh == NULL) fresh = new_node(key);
            if (atomic(set_link, at, which, fresh)) return;
        } else
            at = next;
    }
    atomic(count_up, at);
    if (fresh) free(tolocal(fresh));
}

static int last_key, keys_seen, nodes_seen, nodes_elsewhere, wrong;

/* In order: keys must ascend. */
void walk(at)
link_t at;
{
    struct tree here;

    if (!at) return;
    here = *at;                         /* the whole structure in one read */
    walk(here.child[0]);
    if (here.key <= last_key) wrong++;
    last_key = here.key;
    keys_seen += here.count;
    nodes_seen++;
    if (toproc(at) != MYPROC) nodes_elsewhere++;
    walk(here.child[1]);
}

int depth(at)
link_t at;
{
    int left, right;

    if (at == NULL) return 0;
    left = depth(at->child[0]);
    right = depth(at->child[1]);
    return 1 + (left > right ? left : right);
}

splitc_main(argc, argv)
int argc;
char **argv;
{
    int n = argc > 1 ? atoi(argv[1]) : 200;
    int i;
    link_t top;

    if (n < 1) {
        on_one fprintf(stderr, "tree: the keys of a process must be a positive number\n");
        return 2;
    }
    srandom(11 + MYPROC);
    on_proc(0) root = new_node(5000);
    barrier();
    top = *toglobal(0, &root);
    for (i = 0; i < n; i++)
        insert(top, (int) (random() % 10000));
    barrier();

    last_key = -1;
    walk(top);
    if (keys_seen != n * PROCS + 1) wrong++;
    if (PROCS > 1 && nodes_elsewhere == 0) wrong++;
    if (depth(top) > nodes_seen) wrong++;
    wrong = all_reduce_to_all_add(wrong);
    on_one printf("tree: %d keys, %s\n", keys_seen, wrong ? "WRONG" : "right");
    return wrong != 0;
}
