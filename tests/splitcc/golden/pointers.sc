int *global g;
int *spread s;
double *global *local_to_global;
int *spread table[4];
typedef int *global int_ptr;
int_ptr a, b;
int *global (*function)(int *spread, double);
struct node {
    int value;
    struct node *global next, *here;
};
extern int *global elsewhere;
static char *const *global names;
int plain, *global mixed, other[3];
