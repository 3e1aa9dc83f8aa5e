int y; char c; struct { int b : 3; int n; } s; int x[2]::; int *global g, f(); struct s { int v; } m();
splitc_main()
{
  (y ? y : c) = 3;
  (y ? y : x[0]) = 3;
  (y ? s.b : s.b) = 1; 
  (y, s.b) = 1;
  (char) s.b = 2;
  (char *) g = 0;
  (struct s) m() = m();
  &(char) y, &(y, 3);
  (char) y := x[0];
  (char) x[0] := 3;
  (char) x[0] :- 3;
  (y ? f() : y) = 3;
  (y, 3)++;
  (y ? m() : m()).v = 3;
  (int) (char) y = 3;
  (y ?: c) = 4;
  (double) c = 3;
}
