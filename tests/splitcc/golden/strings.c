# 2 "strings.sc"
int printf(const char *, ...);



int f()
{
    char quote = '"', *s = "a\"b";
    printf("first line\nsecond \"line\", don't stop\n  third\n",

            quote); printf("%d", 11);
    return 12;
}


int behind = 1;



int last = 2;
# 1 "<splitcc>"
