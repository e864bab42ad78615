/* A library with thread-local data of its own. */
static __thread char data[48];
int tls_heavy_touch(int value) {
  data[7] = (char)value;
  return data[7];
}
