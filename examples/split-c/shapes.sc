/*
 * shapes: spread arrays of every shape, static, automatic and as parameters;
 * where their elements lie, what pointers to them do.
 */
#include <stdio.h>
#include <stdlib.h>
#include <split-c/split-c.h>
#include <split-c/control.h>

#define N 13
#define V 3
#define W 5

typedef struct {
    char tag;
    double at[2];
    short small;
} thing;

/* static: initialised to zero, there before splitc_main begins */
int plain[N]::;
static char bytes[N]::;
static double grid[V][W]::;
static int blocks[N]::[4];
static thing things[V][W]::[2][3];
static short one[1]::[7];
extern int later[N]::;
int later[N]::;

static int wrong;

void want(condition, line)
int condition, line;
{
    if (!condition) {
        wrong++;
        fprintf(stderr, "shapes: process %d: line %d is wrong\n", MYPROC, line);
    }
}
#define WANT(c) want((c), __LINE__)

/* Element i of a spread array is in process i mod PROCS, at the same address in all of a row. */
void where_things_are()
{
    int i, j;

    for (i = 0; i < N; i++) {
        WANT(toproc(&plain[i]) == i % PROCS);
        WANT(tolocal(&plain[i]) == tolocal(&plain[0]) + i / PROCS);
        WANT(toproc(&blocks[i][3]) == i % PROCS);
        WANT((char *) tolocal(&blocks[i][3]) - (char *) tolocal(&blocks[0][0])
             == (i / PROCS) * sizeof(int[4]) + 3 * sizeof(int));
    }
    for (i = 0; i < V; i++)
        for (j = 0; j < W; j++) {
            WANT(toproc(&grid[i][j]) == (i * W + j) % PROCS);
            WANT(toproc(&things[i][j][1][2].small) == (i * W + j) % PROCS);
        }
    WANT(toproc(&one[0][6]) == 0);
    WANT(tolocal(&one[0][6]) == tolocal(&one[0][0]) + 6);
}

void statics()
{
    int i, j, k;

    for (i = 0; i < N; i++) WANT(plain[i] == 0 && bytes[i] == 0 && later[i] == 0);
    barrier();
    for_my_1D(i, N) {
        plain[i] = 100 + i;
        bytes[i] = 'a' + i;
        later[i] = -i;
        for (k = 0; k < 4; k++) blocks[i][k] = 10 * i + k;
    }
    for_my_2D(i, j, V, W) {
        grid[i][j] = i + j / 10.0;
        things[i][j][1][2].tag = 'A' + i;
        things[i][j][1][2].at[1] = i - j;
        things[i][j][0][1].small = i * 100 + j;
    }
    on_one one[0][3] = 33;
    barrier();
    for (i = 0; i < N; i++) {
        WANT(plain[i] == 100 + i);
        WANT(bytes[i] == 'a' + i);
        WANT(later[i] == -i);
        for (k = 0; k < 4; k++) WANT(blocks[i][k] == 10 * i + k);
    }
    for (i = 0; i < V; i++)
        for (j = 0; j < W; j++) {
            WANT(grid[i][j] == i + j / 10.0);
            WANT(things[i][j][1][2].tag == 'A' + i);
            WANT(things[i][j][1][2].at[1] == i - j);
            WANT(things[i][j][0][1].small == i * 100 + j);
        }
    WANT(one[0][3] == 33);
    barrier();
}

/* the bounds come from earlier parameters */
double sum_grid(int v, int w, double G[v][w]::)
{
    double sum = 0;
    int i, j;

    for (i = 0; i < v; i++)
        for (j = 0; j < w; j++) sum += G[i][j];
    return sum;
}

int sum_blocks(int n, int m, int B[n]::[m])
{
    int sum = 0, i, k;

    for (i = 0; i < n; i++)
        for (k = 0; k < m; k++) sum += B[i][k];
    return sum;
}

int sum_by_pointer(int n, int *spread p)
{
    int sum = 0;

    while (n-- > 0) sum += *p++;
    return sum;
}

void parameters()
{
    double expected = 0;
    int i, j;

    for (i = 0; i < V; i++)
        for (j = 0; j < W; j++) expected += i + j / 10.0;
    WANT(sum_grid(V, W, grid) == expected);
    WANT(sum_blocks(N, 4, blocks) == 10 * 4 * N * (N - 1) / 2 + 6 * N);
    WANT(sum_by_pointer(N, plain) == 100 * N + N * (N - 1) / 2);
}

/* sizes that are known at run time only, and a scalar between them */
int automatic(int n, int q, int r)
{
    int A[n]::[q][r], count = 0, B[q][r]::;
    int (*spread X)[q][r] = A;
    int i, j, k;

    for_my_1D(i, n)
        for (j = 0; j < q; j++)
            for (k = 0; k < r; k++) A[i][j][k] = (i * q + j) * r + k;
    for_my_2D(i, j, q, r) B[i][j] = i - j;
    barrier();
    for (i = 0; i < n; i++)
        for (j = 0; j < q; j++)
            for (k = 0; k < r; k++) {
                if (A[i][j][k] == (i * q + j) * r + k) count++;
                if (X[i][j][k] == A[i][j][k]) count++;
            }
    for (i = 0; i < q; i++)
        for (j = 0; j < r; j++) WANT(B[i][j] == i - j);
    barrier();
    if (n == 1) return count;           /* leaves the scope, which frees the arrays */
    return count;
}

/* Arithmetic on spread pointers: dealt round the processes, also backwards. */
void arithmetic()
{
    int *spread p = plain;
    int *spread end = p + N;
    int *spread q;
    int i;

    for (i = 0; i < N; i++) {
        WANT(p[i] == 100 + i);
        WANT(*(p + i) == 100 + i);
        WANT(*(end - (N - i)) == 100 + i);
        WANT(end[i - N] == 100 + i);
        WANT((p + i) - p == i);
    }
    for (q = p, i = 0; q != end; q++, i++) WANT(*q == 100 + i);
    WANT(i == N);
    for (q = end; q-- != p; i--) WANT(*q == 100 + i - 1);
    WANT(i == 0);
}

/* Global pointers stay in their process. */
void global_arithmetic()
{
    int *global g = &blocks[2][0];
    int *global h = g + 3;

    WANT(toproc(h) == toproc(g) && h - g == 3);
    WANT(g[1] == 21 && *h == 23);
    WANT(*(int *global) &blocks[5][2] == 52);
    g = NULL;
    WANT(!g && g == 0 && g == NULL);
    h = (int *) 0;
    WANT(h == NULL);
    h = &wrong;
    WANT(toproc(h) == MYPROC && tolocal(h) == &wrong);
}

/* op=, ++ and -- read and write; side effects happen once. */
void updates()
{
    int i = 0;

    barrier();
    on_one {
        plain[N - 1] = 5;
        plain[N - 1] += 2;
        plain[N - 1] *= 3;
        plain[N - 1] <<= 1;
        WANT(plain[N - 1]++ == 42);
        WANT(--plain[N - 1] == 42);
        plain[i++] = 1;
        plain[i++] += 1;
        WANT(i == 2 && plain[0] == 1 && plain[1] == 102);
        grid[1][2] /= 2;
        WANT(grid[1][2] == 0.6);
    }
    barrier();
    WANT(plain[N - 1] == 42);
    barrier();
}

/* Structures as a whole. */
void structures()
{
    thing t, u;

    barrier();
    on_one {
        t.tag = 'q'; t.at[0] = 1.5; t.at[1] = -2; t.small = 9;
        things[2][4][0][0] = t;
        things[1][1][1][1] = things[2][4][0][0];
    }
    barrier();
    u = things[1][1][1][1];
    WANT(u.tag == 'q' && u.at[0] == 1.5 && u.at[1] == -2 && u.small == 9);
    u := things[2][4][0][0];
    sync();
    WANT(u.small == 9);
    barrier();
}

splitc_main()
{
    where_things_are();
    statics();
    parameters();
    arithmetic();
    global_arithmetic();
    WANT(automatic(N, 2, 3) == 2 * N * 2 * 3);
    WANT(automatic(1, 4, 1) == 2 * 4);
    updates();
    structures();
    wrong = all_reduce_to_all_add(wrong);
    on_one printf("shapes: %s\n", wrong ? "WRONG" : "right");
    return wrong != 0;
}
