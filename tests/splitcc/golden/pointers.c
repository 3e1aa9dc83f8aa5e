# 1 "pointers.sc"
 vsc_word g;
 vsc_word s;
 vsc_word *local_to_global;
 vsc_word table [ 4 ];
 typedef vsc_word int_ptr;
int_ptr a, b;
 vsc_word (*function) ( vsc_word  , double );
struct node {
    int value;
 vsc_word next;  struct node  *here;
};
 extern vsc_word elsewhere;
 static vsc_word names;
  int  plain; vsc_word mixed;  int  other[3];
# 1 "<splitcc>"
