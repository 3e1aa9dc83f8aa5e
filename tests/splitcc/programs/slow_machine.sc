/* Right by a slow machine's timing: process 1 writes a block into a buffer that process 0 still
 * reads. Process 0 does not poll while it reads, so that a message that carries the block waits.
 *
 *     slow_machine FOLDER begun    process 0 reads when process 1 is about to write
 *     slow_machine FOLDER done     process 0 reads when the block is there: not with messages
 *
 * FOLDER has files that tell process 0 how far the other one is. Prints `old' or `new'. */
#include <split-c/split-c.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LENGTH 1000
int buffer[LENGTH];

void name_of(char *name, char *folder, char *what) { sprintf(name, "%s/%s", folder, what); }

void tell(char *folder, char *what)
{
    char name[500];

    name_of(name, folder, what);
    close(open(name, O_CREAT | O_WRONLY, 0600));
}

/* Polls nothing. The limit is one that a hang alone reaches. */
void await(char *folder, char *what)
{
    char name[500];
    int i;

    name_of(name, folder, what);
    for (i = 0; i < 50000 && access(name, F_OK) != 0; i++) usleep(1000);
    if (i == 50000) exit(1);
}

splitc_main(int argc, char **argv)
{
    int i, sum = 0, fresh[LENGTH];

    for (i = 0; i < LENGTH; i++) buffer[i] = 1, fresh[i] = 2;
    barrier();
    if (MYPROC == 1) {
        tell(argv[1], "begun");
        bulk_write(toglobal(0, buffer), fresh, sizeof buffer);
        tell(argv[1], "done");
    }
    if (MYPROC == 0) {
        await(argv[1], argv[2]);
        for (i = 0; i < LENGTH; i++) sum += buffer[i];
        puts(sum == LENGTH ? "old" : sum == 2 * LENGTH ? "new" : "mixed");
    }
    barrier();
    if (MYPROC == 0 && buffer[LENGTH - 1] != 2) exit(2);
    return 0;
}
