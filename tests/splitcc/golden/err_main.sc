int splitc_main(int argc, char **argv, char **envp, int more) { return more; }
