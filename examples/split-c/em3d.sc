/*
 * em3d: waves on a bipartite graph. The electric nodes change by the magnetic
 * nodes around them, then the magnetic nodes by the electric ones.
 *
 * The graph lies in the ordinary heap: every node keeps global pointers to the
 * values of its neighbours, most of which belong to some other process.
 *
 *      splitcc -O2 examples/split-c/em3d.sc -o em3d
 *      viaduct-run -n 4 ./em3d 200 10 20 50
 *
 * Arguments: [nodes of each kind per process] [degree] [percent remote] [steps]
 *
 * Two runs over the same graph: blocking reads through the global pointers,
 * and gets into a local buffer, completed by one sync. Both must come to the
 * same values, and these to the ones that process 0 finds by walking the whole
 * graph alone.
 */

#include <stdio.h>
#include <stdlib.h>
#include <split-c/split-c.h>
#include <split-c/control.h>

typedef struct node_t {
    double value;
    int degree;
    double *weights;
    double *global *values;     /* where the neighbours' values are */
    struct node_t *global *from;
    double next;                /* what process 0 computes alone */
    struct node_t *link;
} node_t;

typedef struct {
    node_t *e_nodes;
    node_t *h_nodes;
} graph_t;

node_t *table_of[2];            /* one table of each kind, per process */
int n_nodes, degree, percent, steps;

/* A small generator of our own: the same numbers on every machine. */
static unsigned long seed_;

void set_seed(s)
unsigned long s;
{
    seed_ = s * 2654435761u + 12345;
}

int next_random(limit)
int limit;
{
    seed_ = (seed_ * 1103515245 + 12345) & 0x7fffffff;
    return (seed_ >> 8) % limit;
}

double next_real()
{
    return next_random(10000) / 10000.0;
}

node_t *make_table(count)
{
    int i;
    node_t *table = (node_t *) malloc(count * sizeof(node_t));

    for (i = 0; i < count; i++) {
        table[i].value = next_real();
        table[i].degree = 0;
        table[i].link = (i + 1 < count) ? table + i + 1 : NULL;
    }
    return table;
}

/* Chooses the neighbours of every node of `nodes' among the tables of `kind'. */
void make_neighbours(nodes, tables)
node_t *nodes;
node_t *global tables[];
{
    node_t *n;
    int k;

    for (n = nodes; n; n = n->link) {
        n->degree = degree;
        n->weights = (double *) malloc(degree * sizeof(double));
        n->values = (double *global *) malloc(degree * sizeof(double *global));
        n->from = (node_t *global *) malloc(degree * sizeof(node_t *global));
        for (k = 0; k < degree; k++) {
            int where = next_random(100) < percent ? next_random(PROCS) : MYPROC;
            node_t *global other = tables[where] + next_random(n_nodes);

            n->from[k] = other;
            n->values[k] = &other->value;
            n->weights[k] = next_real() / degree;
        }
    }
}

/* One half of a step, every value read where it is needed. */
void compute_by_read(nodes)
node_t *nodes;
{
    node_t *n;
    int k;

    for (n = nodes; n; n = n->link)
        for (k = 0; k < n->degree; k++)
            n->value -= n->weights[k] * *n->values[k];
    barrier();
}

/* The same with all the values fetched at once. */
void compute_by_get(nodes)
node_t *nodes;
{
    double *ghosts = (double *) malloc(n_nodes * degree * sizeof(double));
    double *g = ghosts;
    node_t *n;
    int k;

    for (n = nodes; n; n = n->link)
        for (k = 0; k < n->degree; k++)
            *g++ := *n->values[k];
    sync();
    g = ghosts;
    for (n = nodes; n; n = n->link)
        for (k = 0; k < n->degree; k++)
            n->value -= n->weights[k] * *g++;
    free(ghosts);
    barrier();
}

/* By one process, through the global pointers from node to node. */
void compute_alone(tables)
node_t *global tables[];
{
    int p, i, k;

    for (p = 0; p < PROCS; p++)
        for (i = 0; i < n_nodes; i++) {
            node_t *global n = tables[p] + i;
            double v = n->next;

            for (k = 0; k < n->degree; k++) {
                /* weights and from are pointers of n's own process */
                double w = *toglobal(p, n->weights + k);
                node_t *global other = *toglobal(p, n->from + k);

                v -= w * other->next;
            }
            n->next = v;
        }
}

double checksum(g)
graph_t *g;
{
    double sum = 0;
    node_t *n;

    for (n = g->e_nodes; n; n = n->link) sum += n->value;
    for (n = g->h_nodes; n; n = n->link) sum += n->value;
    return all_reduce_to_all_dadd(sum);
}

void save(g)
graph_t *g;
{
    node_t *n;

    for (n = g->e_nodes; n; n = n->link) n->next = n->value;
    for (n = g->h_nodes; n; n = n->link) n->next = n->value;
}

int count_wrong(nodes)
node_t *nodes;
{
    int wrong = 0;
    node_t *n;

    for (n = nodes; n; n = n->link)
        if (n->value != n->next) wrong++;
    return wrong;
}

void restore(nodes, values)
node_t *nodes;
double *values;
{
    node_t *n;
    for (n = nodes; n; n = n->link) n->value = *values++;
}

splitc_main(argc, argv)
int argc;
char *argv[];
{
    graph_t graph;
    node_t *global *e_tables, *global *h_tables;
    double *first_e, *first_h, t_read, t_get, sum;
    int i, t, wrong;

    n_nodes = argc > 1 ? atoi(argv[1]) : 20;
    degree  = argc > 2 ? atoi(argv[2]) : 5;
    percent = argc > 3 ? atoi(argv[3]) : 40;
    steps   = argc > 4 ? atoi(argv[4]) : 4;
    if (n_nodes < 1 || degree < 1 || percent < 0 || percent > 100 || steps < 1) {
        on_one fprintf(stderr, "em3d: nodes, neighbours and steps must be positive, the percentage from 0 to 100\n");
        return 2;
    }

    set_seed(17 + MYPROC);
    table_of[0] = graph.e_nodes = make_table(n_nodes);
    table_of[1] = graph.h_nodes = make_table(n_nodes);
    e_tables = (node_t *global *) malloc(PROCS * sizeof(*e_tables));
    h_tables = (node_t *global *) malloc(PROCS * sizeof(*h_tables));
    barrier();

    /* A static variable of every process holds the address of its table. */
    for (i = 0; i < PROCS; i++) {
        e_tables[i] = toglobal(i, *toglobal(i, &table_of[0]));
        h_tables[i] = toglobal(i, *toglobal(i, &table_of[1]));
    }
    make_neighbours(graph.e_nodes, h_tables);
    make_neighbours(graph.h_nodes, e_tables);
    save(&graph);
    first_e = (double *) malloc(n_nodes * sizeof(double));
    first_h = (double *) malloc(n_nodes * sizeof(double));
    for (i = 0; i < n_nodes; i++) {
        first_e[i] = graph.e_nodes[i].value;
        first_h[i] = graph.h_nodes[i].value;
    }
    barrier();

    on_one {
        for (t = 0; t < steps; t++) {
            compute_alone(e_tables);
            compute_alone(h_tables);
        }
    }
    barrier();

    t_read = get_seconds();
    for (t = 0; t < steps; t++) {
        compute_by_read(graph.e_nodes);
        compute_by_read(graph.h_nodes);
    }
    t_read = get_seconds() - t_read;
    wrong = count_wrong(graph.e_nodes) + count_wrong(graph.h_nodes);
    sum = checksum(&graph);

    restore(graph.e_nodes, first_e);
    restore(graph.h_nodes, first_h);
    barrier();
    t_get = get_seconds();
    for (t = 0; t < steps; t++) {
        compute_by_get(graph.e_nodes);
        compute_by_get(graph.h_nodes);
    }
    t_get = get_seconds() - t_get;
    wrong += count_wrong(graph.e_nodes) + count_wrong(graph.h_nodes);
    if (checksum(&graph) != sum) wrong++;
    wrong = all_reduce_to_all_add(wrong);

    on_one {
        fprintf(stderr, "em3d: reads %.3f ms, gets %.3f ms\n", t_read * 1e3, t_get * 1e3);
        printf("em3d: %d nodes, sum %.6f, %s\n", 2 * n_nodes * PROCS, sum,
               wrong ? "WRONG" : "right");
    }
    return wrong != 0;
}
