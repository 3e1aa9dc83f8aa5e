# 2 "short_enums.sc"
enum state { IDLE, BUSY } mine;
void f( vsc_word p) { ({ enum state vsc_t1 =  BUSY; vsc_write((p), &vsc_t1, sizeof vsc_t1); }), vsc_get(&( mine), (p), sizeof(enum state)); }
# 1 "<splitcc>"
