struct point { double x, y; int corners[4]; } ;
char c; short h; long l; unsigned u; float f; double d; long double wide; int *p; enum color { red } e;
void reads(char *global gc, short *global gh, int *global gi, long *spread gl, float *global gf,
           double *global gd, long double *global gw, int *global *global gg, int **global gp,
           struct point *global gs, enum color *global ge)
{
    c = *gc, h = *gh;
    l = gl[3];
    f = *gf, d = *gd, wide = *gw;
    p = *gp;
    gi = *gg;
    e = *ge;
    d = gs->x + (*gs).y + gs[2].corners[1];
    *gc = c;
    gh[1] = d;
    *gi = 3;
    *gf = d, *gd = f, *gw = wide;
    *gp = p, *gg = gi;
}
