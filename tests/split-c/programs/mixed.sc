/* Split-C and C++ in one program: a global pointer is the same word in both. mixed.cpp is the rest. */
#include <split-c/split-c.h>

int values[4]::;
int read_there(int *global p);
int *global second_of(int *spread p);

splitc_main()
{
    if (MYPROC == 0) values[1] = 7, values[2] = 8;
    barrier();
    if (read_there(&values[1]) != 7) return 1;
    if (second_of(values) != &values[1] || *second_of(values + 1) != 8) return 2;
    return 0;
}
