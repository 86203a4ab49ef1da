#import "internal.h"
#include <sys/stat.h>
#include <unistd.h>

// _ANEHashEncoding is new in framework 382.11.
static bool verifies(void) {
    Class hashes = NSClassFromString(@"_ANEHashEncoding");
    return [hashes respondsToSelector:NSSelectorFromString(@"verifyBundleAtPath:expectedHashes:error:")];
}

// Reports whether both exist and differ. One folder may have several spellings: /var is a link to /private/var.
static bool differ(const char *a, const char *b) {
    struct stat x, y;
    return a[0] != 0 && b[0] != 0 && stat(a, &x) == 0 && stat(b, &y) == 0 &&
           (x.st_dev != y.st_dev || x.st_ino != y.st_ino);
}

int32_t aneb_folders_now(aneb *a, aneb_folders *out, aneb_error *error) {
    if (a == NULL) return aneb_null(error, ANEB_CHECK);
    if (out == NULL) return aneb_refuse(error, ANEB_CHECK, ANEB_ARGUMENT, "aneb_folders_now: out is NULL");
    *out = (aneb_folders){0};
    size_t size = confstr(_CS_DARWIN_USER_TEMP_DIR, out->user, sizeof out->user);
    if (size == 0 || size > sizeof out->user) out->user[0] = 0;
    return aneb_guard(error, ANEB_CHECK, ^int32_t {
        aneb_text_from(out->process, sizeof out->process, NSTemporaryDirectory());
        out->foreign = differ(out->process, out->user);
        out->verifies = verifies();
        return ANEB_OK;
    });
}
