/*
 * cannon: C = A B by Cannon's algorithm on a square grid of processes.
 *
 * The matrices are spread arrays of one block per process. In each of q steps
 * a process multiplies the two blocks that it has, then stores its block of A
 * into its left neighbour's memory and its block of B into the one above; two
 * sets of blocks take turns, so that nobody's block is overwritten in use.
 *
 *      splitcc -O2 examples/split-c/cannon.sc -o cannon
 *      viaduct-run -n 4 ./cannon 16
 *
 * Arguments: [rows of a block]
 *
 * Of PROCS processes the largest square number takes part.
 */

#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <split-c/split-c.h>
#include <split-c/control.h>

static double a_value(int i, int j) { return (i * 7 + j * 3) % 11 - 5; }
static double b_value(int i, int j) { return (i * 5 + j * 2) % 13 - 6; }

/* c += a b, for blocks of b rows and columns */
static void multiply(int n, double a[n][n], double b[n][n], double c[n][n])
{
    int i, j, k;

    for (i = 0; i < n; i++)
        for (k = 0; k < n; k++) {
            double x = a[i][k];

            for (j = 0; j < n; j++)
                c[i][j] += x * b[k][j];
        }
}

static int isqrt(int n)
{
    int q = 1;

    while ((q + 1) * (q + 1) <= n) q++;
    return q;
}

static void fill(int q, int n, double A[q][q]::[n][n], double B[q][q]::[n][n],
                 double C[q][q]::[n][n])
{
    int row, col;

    for_my_2D(row, col, q, q) {
        /* the first alignment: row i of A is i blocks to the left, column j of B j blocks up */
        double (*a)[n] = tolocal(A[row][col]);
        double (*b)[n] = tolocal(B[row][col]);
        double (*c)[n] = tolocal(C[row][col]);
        int ahead = (row + col) % q, i, j;

        for (i = 0; i < n; i++)
            for (j = 0; j < n; j++) {
                a[i][j] = a_value(row * n + i, ahead * n + j);
                b[i][j] = b_value(ahead * n + i, col * n + j);
                c[i][j] = 0;
            }
    }
}

static int check(int q, int n, double C[q][q]::[n][n])
{
    int wrong = 0, bi, bj, i, j, k;

    for (bi = 0; bi < q; bi++)
        for (bj = 0; bj < q; bj++)
            for (i = 0; i < n; i++)
                for (j = 0; j < n; j++) {
                    double sum = 0;

                    for (k = 0; k < q * n; k++)
                        sum += a_value(bi * n + i, k) * b_value(k, bj * n + j);
                    if (C[bi][bj][i][j] != sum) wrong++;
                }
    return wrong;
}

static int cannon(int n)
{
    int q = isqrt(PROCS), wrong = 0, step;
    int row = MYPROC / q, col = MYPROC % q;
    int busy = MYPROC < q * q;
    double A[q][q]::[n][n], B[q][q]::[n][n], A2[q][q]::[n][n], B2[q][q]::[n][n], C[q][q]::[n][n];
    double (*spread now_a)[n][n] = A, (*spread now_b)[n][n] = B;
    double (*spread next_a)[n][n] = A2, (*spread next_b)[n][n] = B2;
    double start;

    fill(q, n, A, B, C);
    all_store_sync();
    start = get_seconds();
    for (step = 0; step < q; step++) {
        double (*spread t)[n][n];

        if (busy) {
            int left = row * q + (col + q - 1) % q;
            int above = (row + q - 1) % q * q + col;

            bulk_store(next_a + left, tolocal(now_a + MYPROC), n * n * sizeof(double));
            bulk_store(next_b + above, tolocal(now_b + MYPROC), n * n * sizeof(double));
            multiply(n, *tolocal(now_a + MYPROC), *tolocal(now_b + MYPROC),
                     *tolocal((double (*spread)[n][n]) C + MYPROC));
        }
        all_store_sync();
        t = now_a; now_a = next_a; next_a = t;
        t = now_b; now_b = next_b; next_b = t;
    }
    start = get_seconds() - start;
    on_one {
        wrong = check(q, n, C);
        fprintf(stderr, "cannon: %.3f ms\n", start * 1e3);
        printf("cannon: %d x %d on %d x %d processes, %s\n", q * n, q * n, q, q,
               wrong ? "WRONG" : "right");
    }
    barrier();
    return wrong;
}

int splitc_main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 12;

    if (n < 1) {
        on_one fprintf(stderr, "cannon: the rows of a block must be a positive number\n");
        return 2;
    }
    return cannon(n) != 0;
}
