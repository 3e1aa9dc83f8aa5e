/* Mistake with the library: splitc_main wants what there is not */
#include <split-c/split-c.h>

int splitc_main(int processes, int number, int argc, char **argv) /* here */
{
    return argc < 2 || argv[1][0] != '0' || number >= processes;
}
