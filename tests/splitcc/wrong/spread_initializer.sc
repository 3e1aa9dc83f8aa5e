/* Mistake with spread arrays: a spread array has an initializer */
#include <split-c/split-c.h>

int primes[4]:: = { 2, 3, 5, 7 }; /* here */
