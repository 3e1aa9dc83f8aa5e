typedef int v4 __attribute__((vector_size(16)));
struct s { char c; v4 v; } S[4]::;
v4 V[4]::, mine;
v4 take(v4 v, const v4 *global g, int n)
{
    v4 t = V[n];
    t += *g, V[n] += t, S[n].v = t, t = g[2] + S[1].v * V[0];
    mine := V[1];
    take(*g, &V[n + 1], V[0][n] + t[1] + (*g)[2] + S[n].v[3]);
    return n ? *g : V[n];
}
