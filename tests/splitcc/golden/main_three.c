# 1 "main_three.sc"
splitc_main(argc, argv, envp)
char **argv, *envp[];
{
return 0; }
# 1 "<splitcc>"
extern char **__environ;
int vsc_main(int vsc_argc, char **vsc_argv) {
  (void)vsc_argc, (void)vsc_argv;
  return splitc_main((int)vsc_argc, (void *)vsc_argv, (void *)__environ);
}
