int i; double d; char *text;
struct s { int *spread p; } here, *to = &here;
void f(int *global g, int *spread s, double *spread sd, char **global gt, int *spread *global gs, long double *global w)
{
    *g += 3, (*g)++, --*g;
    i = (*g)++ + ++*g;
    i = (s[1] <<= 2);
    sd[i] *= i;
    d = (*sd -= 0.5);
    g++, ++s, s -= 2, g += i;
    i = *g++ + *--s;
    to->p++;
    s = to->p += 2;
    (*gt)++;
    text = *gt += 2;
    *gs += 3, (*gs)--;
    *w += 1, (*w)++;
}
