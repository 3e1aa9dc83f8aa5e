#define PROCS __splitc_procs
void bulk_read(void *to, void *global from, unsigned long bytes);
void bulk_get(void *to, void *global from, unsigned long bytes);
void bulk_write(void *global to, const void *from, unsigned long bytes);
void bulk_put(void *global to, const void *from, unsigned long bytes);
void bulk_store(void *global to, const void *from, unsigned long bytes);
int rows[4][3]::[8], parts[PROCS]::[2], one[1]::[100];
void wrong(int n, int many[n][n]::)
{
    int here[100];
    bulk_read(here, rows[2], sizeof(int[8]));
    bulk_get(here, &rows[n], n);
    bulk_write((void *global)many[n - 1], here, n);
    bulk_store(parts, here, 2 * PROCS * sizeof(int));
    bulk_read(here, &parts[0][0], PROCS * sizeof parts[0]);
    bulk_read(here, rows, 12 * 8 * 4);
}
void right(int n, int many[n][n]::)
{
    int here[100];
    bulk_read(here, rows[2][1], sizeof(int[8]));
    bulk_get(here, &rows[n][0][3], 4 * sizeof(int));
    bulk_write(&many[n - 1][0], here, n);
    bulk_put(one, here, sizeof here);
    bulk_store(parts[n], here, sizeof parts[0]);
    bulk_read(here, rows, sizeof rows[0][0]);
}
