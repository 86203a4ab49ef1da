// _ANEHashEncoding and _ANECloneHelper: the check of a bundle's files. Both are in frameworks from 382.11 on.
#define _GNU_SOURCE // FTW_PHYS
#import "hash_encoding.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#import "errors.h"
#import "sha256.h"

static NSString *hash_file(NSString *path) {
    int fd = open([path fileSystemRepresentation], O_RDONLY | O_CLOEXEC);
    if (fd < 0) return nil;
    struct sha256 s;
    sha256_start(&s);
    char bytes[1 << 16];
    ssize_t n;
    while ((n = read(fd, bytes, sizeof bytes)) != 0) {
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) break;
        sha256_add(&s, bytes, (size_t)n);
    }
    if (n < 0) core_log(@"hexStringForFileAtPath: read(%@) failed errno=%d", path, errno);
    close(fd);
    NSString *hash = sha256_finish(&s);
    return n < 0 ? nil : hash;
}

static int is_link(const char *path, const struct stat *status, int type, struct FTW *at) {
    (void)status, (void)at;
    if (type == FTW_SL || type == FTW_SLN) core_log(@"bundle entry %s is a symbolic link; refusing", path);
    return type == FTW_SL || type == FTW_SLN;
}

static BOOL has_link(NSString *directory) {
    enum { OPEN = 16 };
    return nftw([directory fileSystemRepresentation], is_link, OPEN, FTW_PHYS) > 0;
}

static BOOL refuse(NSError **error) { return core_fail(error, error_plain(10, @"verifyBundleAtPath")); }

BOOL hash_verify(NSString *directory, NSDictionary *hashes, NSError **error) {
    struct stat is;
    if (lstat([directory fileSystemRepresentation], &is) != 0 || !S_ISDIR(is.st_mode)) {
        core_log(@"verifyBundleAtPath: %@ missing or not a directory", directory);
        return refuse(error);
    }
    if (has_link(directory)) return refuse(error);
    for (NSString *name in hashes) {
        if ([[hashes objectForKey:name] isEqual:hash_file([directory stringByAppendingPathComponent:name])]) continue;
        core_log(@"verifyBundleAtPath: hash mismatch for %@ in bundle %@ (TOCTOU?)", name, directory);
        return refuse(error);
    }
    return YES;
}

@interface StandinHashEncoding : StandinObject
@end

@implementation StandinHashEncoding

+ (BOOL)verifyBundleAtPath:(NSString *)path expectedHashes:(NSDictionary *)hashes error:(NSError **)error {
    return hash_verify(path, hashes, error);
}

+ (NSString *)hexStringForFileAtPath:(NSString *)path {
    return hash_file(path);
}

@end

@interface StandinCloneHelper : StandinObject
@end

@implementation StandinCloneHelper

+ (BOOL)bundleContainsSymlinkAtPath:(NSString *)path {
    return has_link(path);
}

@end
