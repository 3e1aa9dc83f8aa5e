/* Mistake with spread arrays: a spread array is a member of a structure */
#include <split-c/split-c.h>

struct table {
    int n;
    double values[100]::; /* here */
};
