// What a wheel asks of glibc, by names that glibc 2.28 already has (FASTSQL_STATIC_RUNTIME). A linker takes a function's newest
// version, and glibc has renewed some: `log` in 2.29, those of threads in 2.34. The linker's --wrap turns every call of them, those
// inside libstdc++ included, into one of these, which call the older version. What is missing here shows when the wheel is built:
// auditwheel refuses the tag.
#include <pthread.h>

#if defined(__x86_64__)
#define FASTSQL_FIRST_GLIBC "GLIBC_2.2.5"
#else
#define FASTSQL_FIRST_GLIBC "GLIBC_2.17"
#endif
#define FASTSQL_OLD(name) __asm__(".symver old_" #name "," #name "@" FASTSQL_FIRST_GLIBC)

extern "C" {

FASTSQL_OLD(log);
FASTSQL_OLD(pthread_create);
FASTSQL_OLD(pthread_join);
FASTSQL_OLD(pthread_once);

double old_log(double x);
int old_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument);
int old_pthread_join(pthread_t thread, void** result);
int old_pthread_once(pthread_once_t* once, void (*run)());

double __wrap_log(double x) { return old_log(x); }
int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) {
  return old_pthread_create(thread, attributes, run, argument);
}
int __wrap_pthread_join(pthread_t thread, void** result) { return old_pthread_join(thread, result); }
int __wrap_pthread_once(pthread_once_t* once, void (*run)()) { return old_pthread_once(once, run); }

// Since 2.32, libstdc++ asks whether there is but one thread, to spare itself atomic operations. Here there may be several.
__attribute__((visibility("hidden"))) char __libc_single_threaded = 0;

}  // extern "C"
