# 1 "earlier.sc"
int restrict, u;
 vsc_word U ( vsc_word restrict ) { return restrict; }
# 1 "<splitcc>"
