/* Automatic variables that are used before they are set. */
#include <split-c/split-c.h>
int in_c(int);
struct sum { double total; int *global where; int counts[20]; };

int soil(n)                     /* leaves a stack behind that is not zero */
{
    volatile int here[500];
    int i;

    for (i = 0; i < 500; i++) here[i] = n + i;
    return here[n];
}
int count(n)
{
    int i, found, table[n], *global g;
    struct sum s;
    double sums[30];
    char text[40];

    for (i = 0; i < n; i++) found += table[i] != 0;
    for (i = 0; i < 30; i++) found += sums[i] != 0;
    for (i = 0; i < 20; i++) found += s.counts[i] != 0;
    for (i = 0; i < 40; i++) found += text[i] != 0;
    return found + (g != 0) + (s.where != 0) + (s.total != 0);
}
/* gcc 12 fills the padding of sum behind parts at a wrong place. */
struct part { int *here; double value; int *global there; };
struct parts { struct part part[3]; int *here; double value; struct { char name[2]; double value; } sum; };
int parts(n)
{
    struct parts all = { { { &n, 91.5, &n }, { 0, 10.5, 0 }, { 0, 26.5, &n } }, &n, 8.5, { "a", 6.5 } };

    return all.part[0].there != (int *global) &n || all.part[0].value != 91.5 || all.part[2].there != all.part[0].there;
}

splitc_main(argc, argv)
char **argv;
{
    int i, wrong;

    if (parts(3)) return 1;
    for (i = 0; i < 3; i++) {
        soil(7);
        wrong += count(20);
        soil(7);
        wrong += in_c(20);
    }
    return argc > 1 ? wrong == 0 : wrong != 0;
}
