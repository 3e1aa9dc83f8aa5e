int in_c(int n) {
  int i, found, table[20];
  for (i = 0; i < n; i++) found += table[i] != 0;
  return found;
}
