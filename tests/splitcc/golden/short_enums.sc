/* splitcc -fshort-enums */
enum state { IDLE, BUSY } mine;
void f(enum state *global p) { *p = BUSY, mine := *p; }
