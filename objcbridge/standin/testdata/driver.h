// Shared by the drivers: programs that call the stand-in framework directly, without the bridge.
//
// A driver prints one line per check and ends with status 0 if all pass. To build one against the
// libraries in OUT:
//
//     clang-14 $(gnustep-config --objc-flags) -std=gnu11 -fobjc-runtime=gcc -fblocks -gdwarf-4 -I.. -IOUT/include \
//         -idirafter $(gcc -print-file-name=include) driver_x.m -o driver_x -LOUT -Wl,-rpath,OUT \
//         -lAppleNeuralEngine -lstandinsurface -lBlocksRuntime $(gnustep-config --base-libs) \
//         -L$(dirname $(gcc -print-file-name=libobjc.so))
//
// and the plain C one: clang-14 -std=gnu11 -I.. driver_surface.c -o driver_surface -LOUT -Wl,-rpath,OUT
// -lstandinsurface -pthread. Three ways to run them:
//
//     ./driver_x
//     ASAN_OPTIONS=detect_leaks=0 ./driver_x, with it and the libraries built with -fsanitize=address
//     valgrind -q --suppressions=valgrind.supp --leak-check=full --show-leak-kinds=definite \
//         --errors-for-leak-kinds=definite --error-exitcode=9 ./driver_x
//
// valgrind and the counts that each driver checks at its end find leaks: the runtime never frees what it
// registers, and AddressSanitizer cannot ignore that without hiding leaks of objects too. Under valgrind
// use a smaller number for driver_soak. -gdwarf-4 is needed because valgrind cannot read clang's DWARF
// 5.
#ifndef DRIVER_H
#define DRIVER_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cf.h"
#include "standin.h"

static int driver_failures;

static inline void check_at(int ok, const char *what, const char *file, int line) {
    printf("%s %s%s", ok ? "ok" : "FAIL", what, ok ? "\n" : "");
    if (!ok) printf(" (%s:%d)\n", file, line);
    fflush(stdout);
    driver_failures += !ok;
}

#define CHECK(what, ...) check_at((__VA_ARGS__) != 0, what, __FILE__, __LINE__)

// Runs body in a child and returns its wait status; text gets its stderr.
static inline int in_child(void (*body)(void), char *text, size_t size) {
    int ends[2];
    if (pipe(ends)) return -1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        driver_failures = 0;
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], 2);
        body();
        _exit(driver_failures ? 1 : 0);
    }
    close(ends[1]);
    size_t used = 0;
    ssize_t n;
    char rest[512];
    while ((n = read(ends[0], used + 1 < size ? text + used : rest, used + 1 < size ? size - 1 - used : sizeof rest)) > 0)
        if (used + 1 < size) used += (size_t)n;
    if (size) text[used] = 0;
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

// Reports whether abort ends body with a message that contains word.
static inline int aborts(void (*body)(void), const char *word) {
    char text[4096] = "";
    int status = in_child(body, text, sizeof text);
    int ok = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && strstr(text, word);
    if (!ok) printf("  status %d, output: %s\n", status, text);
    return ok;
}

static inline IOSurfaceRef surface_of(int64_t size) {
    CFMutableDictionaryRef d =
        CFDictionaryCreateMutable(NULL, 0, &kCFTypeDictionaryKeyCallBacks, &kCFTypeDictionaryValueCallBacks);
    CFNumberRef n = d ? CFNumberCreate(NULL, 4, &size) : NULL;
    IOSurfaceRef s = NULL;
    if (n) {
        CFDictionarySetValue(d, kIOSurfaceAllocSize, n);
        CFRelease(n);
        s = IOSurfaceCreate(d);
    }
    if (d) CFRelease(d);
    return s;
}

#endif
