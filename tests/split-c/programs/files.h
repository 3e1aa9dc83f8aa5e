#ifndef FILES_H
#define FILES_H
int shared_count;
double header_array[20]::;
static int per_file[3]::;
extern int elsewhere[PROCS]::[2];
extern inline int twice(int x) { return 2 * x; }
void fill(int v, int w, int q, int r, int [v][w]::[q][r]);
int total(int, int v, int w, int q, int r, int X[v][w]::[q][r]);
double header_sum();
long count_in(void *global, int);
typedef struct point_s { double x, y; } point;
point *spread points;
int set_file(), file_value();
#endif
