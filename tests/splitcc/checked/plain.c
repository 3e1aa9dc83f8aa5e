/* What plain.h declares. */
int of_plain;
void change_plain(void) { of_plain = 2; /* race 16 */ }
