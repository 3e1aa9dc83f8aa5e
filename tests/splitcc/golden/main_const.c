# 1 "main_const.sc"
char *splitc_main(unsigned long argc, const char *const *argv) { return 0; }
# 1 "<splitcc>"
int vsc_main(int vsc_argc, char **vsc_argv) {
  (void)vsc_argc, (void)vsc_argv;
  splitc_main((unsigned long)vsc_argc, (void *)vsc_argv);
  return 0;
}
