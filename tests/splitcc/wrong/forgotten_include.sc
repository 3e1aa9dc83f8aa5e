/* Mistake with the library: the library is used without its header */
int f(double mine)
{
    double sum = all_reduce_to_all_dadd(mine); /* here */

    return sum > 1;
}
