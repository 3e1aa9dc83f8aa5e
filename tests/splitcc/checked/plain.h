extern int of_plain;
void change_plain(void);
