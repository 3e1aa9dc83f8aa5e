# 1 "main_int.sc"
splitc_main(int argc, char **argv)
{
    if (argc > 1) return 0;
    if (argc > 2) return 3;
return 0; }
# 1 "<splitcc>"
int vsc_main(int vsc_argc, char **vsc_argv) {
  (void)vsc_argc, (void)vsc_argv;
  return splitc_main((int)vsc_argc, (void *)vsc_argv);
}
