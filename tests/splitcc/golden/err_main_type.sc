splitc_main(argc, argv)
char **argc;
{
}
