struct m { foo *global g; };
foo *global file_level;
void named(foo *global g);
void second(int a, foo *global g);
foo *global function(void) { return 0; }
void block(int *global h)
{
    foo *global g;
    foo *p;
    foo *spread q = 0, r;
    h = (foo *global) h;
    sizeof(foo *global);
    ~h;
    foo * h;
}
