/* don't be confused: "an open quote */
int printf(const char *, ...);
#if 0
it's "hidden
#endif
int f()
{
    char quote = '"', *s = "a\"b";
    printf("first line
second \"line\", don't stop
  third\n", quote); printf("%d", __LINE__);
    return __LINE__;
}
// a disk of 5" \
  and another of 3"
int behind = 1; // "open
#ifdef NEVER
a disk of 5" does not fit
#endif
int last = 2; // "
