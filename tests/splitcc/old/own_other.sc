/* The functions of the other file. */
int *global unused;
extern int all_scan_add();

others() { return getline(4) + all_scan_add(2, 3); }
