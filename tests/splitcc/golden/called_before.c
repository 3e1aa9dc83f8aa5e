# 1 "called_before.sc"
struct pair { int a, b; };
static int hidden(); void nothing(); struct pair *find(); float half(float, char); int same(); unsigned int in_block(); unsigned long wide();  caller()
{
    struct pair *p = find(3);
    nothing(p->a);
    return hidden(p) + half(2.0, 'x') + same(1) + (int) wide() + in_block(1);
}
static int hidden(p) struct pair *p; { return p->b; }
void nothing(int n) { }
struct pair *find(n) { static struct pair one; one.a = n; return &one; }
float half(float f, char c) { return f / 2 + c; }
int same(int n) { return n; }
other() { unsigned in_block(); return in_block(2); }
unsigned long wide() { return 1; }
 vsc_word far ( );
 vsc_word far ( ) { return 0UL; }
# 1 "<splitcc>"
