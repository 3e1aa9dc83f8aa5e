splitc_main(argc, argv, envp)
char **argv, *envp[];
{
}
