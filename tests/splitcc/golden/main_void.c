# 1 "main_void.sc"
void splitc_main() { }
# 1 "<splitcc>"
int vsc_main(int vsc_argc, char **vsc_argv) {
  (void)vsc_argc, (void)vsc_argv;
  splitc_main();
  return 0;
}
