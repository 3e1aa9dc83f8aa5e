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
splitc_main(argc, argv)
char **argv;
{
    int i, wrong;

    for (i = 0; i < 3; i++) {
        soil(7);
        wrong += count(20);
        soil(7);
        wrong += in_c(20);
    }
    return argc > 1 ? wrong == 0 : wrong != 0;
}
