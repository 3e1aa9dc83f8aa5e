/* Mistake with split-phase access: :- stores into an object of this process */
#include <split-c/split-c.h>

int inbox[16];

void send(int i, int value)
{
    inbox[i] :- value; /* here */
}
