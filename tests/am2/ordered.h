/* Handlers that see whether numbers come in order. */
#ifndef VIADUCT_TESTS_AM2_ORDERED_H
#define VIADUCT_TESTS_AM2_ORDERED_H

static int last_order, in_order, ordered;
static void on_ordered(void* token, int n) {
  (void)token;
  ++ordered;
  if (n == last_order + 1) ++in_order;
  last_order = n;
}
static void on_ordered_medium(void* token, void* buf, int nbytes, int n) {
  (void)buf;
  (void)nbytes;
  on_ordered(token, n);
}

#endif
