# 1 "today.h" 1 3
typedef int key_t;
extern double log2(double);
extern long getline(char **, unsigned long *, void *);
extern void *malloc(unsigned long);
extern char *index(const char *, int);
extern int gettimeofday(void *, void *);
extern int same(int);
# 9 "library_names.sc" 2
extern char *malloc(), *index_of();
int gettimeofday(char *, char *);
typedef unsigned char key_t;
key_t keys[4], *spread all;
int same(int);
int log2(n) { return n > 1 ? 1 + log2(n >> 1) : 0; }
static int getline(char *line, int most) { return sizeof(key_t) + most; }
double index;
f(k) key_t *global k;
{
    char *malloc();
    double index_too = index;
    return *k + log2(8) + getline(malloc(80), 80) + (int) index;
}
int (*address)(int) = log2;
# 1 "include/split-c/some.h" 1
int all_gather(int *values);
double get_seconds(void);
void bulk_get(void *, void *global, unsigned long);
# 29 "library_names.sc" 2
extern double get_seconds();
extern void bulk_get(char *, char *global, int);
all_gather(a, n) double *a; { bulk_get(a, a, n); return (int) get_seconds(); }
