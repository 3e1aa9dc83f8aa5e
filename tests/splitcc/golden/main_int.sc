splitc_main(int argc, char **argv)
{
    if (argc > 1) return;
    if (argc > 2) return 3;
}
