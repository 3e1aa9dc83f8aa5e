# 1 "main_void.sc"
void splitc_main() { }
# 1 "<splitcc>"
int vsc_main(int vsc_argc, char **vsc_argv) {
  ((int (*)(int, char **))(void *)splitc_main)(vsc_argc, vsc_argv);
  return 0;
}
