#pragma redefine_extname vsc_program_log2 log2
#pragma redefine_extname vsc_program_getline getline
#pragma redefine_extname vsc_program_index index
#pragma redefine_extname vsc_program_all_gather all_gather
# 1 "today.h" 3
typedef int key_t;
extern double log2(double);
extern long getline(char **, unsigned long *, void *);
extern void *malloc(unsigned long);
extern char *index(const char *, int);
extern int gettimeofday(void *, void *);
extern int same(int);
# 9 "library_names.sc"
extern char *vsc_old_1_malloc(), *index_of();
int vsc_old_2_gettimeofday(char *, char *);
typedef unsigned char vsc_program_key_t;
  vsc_program_key_t  keys[4]; vsc_word all;
int same(int);
int vsc_program_log2();  int vsc_program_log2(n) { return n > 1 ? 1 + vsc_program_log2(n >> 1) : 0; }
static int vsc_program_getline();  static int vsc_program_getline(char *line, int most) { return sizeof(vsc_program_key_t) + most; }
double vsc_program_index;
f(k) vsc_word k;
{
    char *vsc_old_3_malloc();
    double index_too = vsc_program_index;
    return ((unsigned char)vsc_read1((k))) + vsc_program_log2(8) + vsc_program_getline(malloc(80), 80) + (int) vsc_program_index;
}
int (*address)(int) = vsc_program_log2;
# 1 "include/split-c/some.h"
int all_gather(int *values);
double get_seconds(void);
void bulk_get(void *, vsc_word , unsigned long);
# 29 "library_names.sc"
extern double get_seconds();
extern void vsc_old_5_bulk_get(char *, vsc_word , int);
int vsc_program_all_gather();  vsc_program_all_gather(a, n) double *a; { bulk_get(a, vsc_global( a), n); return (int) get_seconds(); }
# 1 "<splitcc>"
