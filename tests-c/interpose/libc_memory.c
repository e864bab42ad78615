/* Memory that the C library hands out comes from the allocator under test and goes back to it. */
//@ modes=system,preload,static,full rows=M01,M03
#include <dirent.h>
#include <glob.h>
#include <langinfo.h>
#include <locale.h>
#include <netdb.h>
#include <regex.h>
#include <search.h>
#include <sys/stat.h>
#include <wchar.h>

#include "test.h"

static char *owned(void *block) {
  CHECK(block != NULL);
  CHECK_AT_LEAST(malloc_usable_size(block), 1);
  return block;
}

static void release(void *block) { free(owned(block)); }

static int compare(const void *left, const void *right) { return strcmp(left, right); }

int main(void) {
  FILE *file = tmpfile();
  char *line = NULL, *text = NULL, *item = NULL;
  wchar_t *wide = NULL;
  size_t room = 0;
  CHECK(file != NULL);
  for (int i = 0; i < 30000; i++) fputc('a' + i % 26, file);
  fputs("\nshort;rest\n", file);
  rewind(file);
  CHECK_EQ(getline(&line, &room, file), 30001);
  CHECK_AT_LEAST(malloc_usable_size(owned(line)), 30002);
  CHECK_EQ(getdelim(&line, &room, ';', file), 6);
  release(line);
  line = malloc(8); /* getline must be able to grow what we allocated */
  room = 8;
  rewind(file);
  CHECK_EQ(getline(&line, &room, file), 30001);
  release(line);
  fclose(file);

  release(strdup("text"));
  release(strndup("text", 2));
  release(wcsdup(L"wide"));
  CHECK_EQ(asprintf(&text, "%0*d", 5000, 7), 5000);
  text = realloc(owned(text), 9000);
  CHECK_EQ(strlen(text), 5000);
  release(text);
  release(realpath("/proc/self/..", NULL));
  release(getcwd(NULL, 0));
  release(get_current_dir_name());
  release(tempnam("/tmp", "hak"));
  CHECK_AT_LEAST(sscanf("words and more", "%ms", &item), 1);
  CHECK(strcmp(item, "words") == 0);
  release(item);

  FILE *stream = open_memstream(&text, &room);
  for (int i = 0; i < 10000; i++) fprintf(stream, "%d,", i);
  fclose(stream);
  CHECK(strncmp(owned(text), "0,1,2,", 6) == 0);
  release(text);
  stream = open_wmemstream(&wide, &room);
  fputws(L"wide enough", stream);
  fclose(stream);
  release(wide);

  struct dirent **names;
  int count = scandir("/proc/self", &names, NULL, alphasort);
  CHECK_AT_LEAST(count, 10);
  for (int i = 0; i < count; i++) release(names[i]);
  release(names);
  glob_t paths;
  CHECK_EQ(glob("/proc/self/*", 0, NULL, &paths), 0);
  globfree(&paths);
  regex_t expression;
  CHECK_EQ(regcomp(&expression, "^(a|b)*c{2,9}$", REG_EXTENDED), 0);
  CHECK_EQ(regexec(&expression, "ababcc", 0, NULL, 0), 0);
  regfree(&expression);

  void *tree = NULL;
  tsearch("one", &tree, compare);
  tsearch("two", &tree, compare);
  tdelete("one", &tree, compare);
  tdelete("two", &tree, compare);
  CHECK_EQ(hcreate(100), 1);
  hdestroy();
  for (int i = 0; i < 300; i++) {
    char name[20];
    snprintf(name, sizeof name, "NAME_%d", i);
    CHECK_EQ(setenv(name, "value", 1), 0);
    if (i % 2) CHECK_EQ(unsetenv(name), 0);
  }
  CHECK_EQ(putenv(strdup("KEPT=1")), 0);
  CHECK(setlocale(LC_ALL, "C.UTF-8") != NULL);
  CHECK(setlocale(LC_ALL, "C") != NULL);
  locale_t locale = newlocale(LC_ALL_MASK, "C", NULL);
  CHECK(locale != NULL);
  freelocale(locale);
  if (!mode_is("full")) { /* a static program needs the shared libraries of its own glibc here */
    struct addrinfo *found = NULL, hints = {.ai_flags = AI_NUMERICHOST};
    CHECK_EQ(getaddrinfo("127.0.0.1", "80", &hints, &found), 0);
    freeaddrinfo(found);
  }
  return 0;
}
