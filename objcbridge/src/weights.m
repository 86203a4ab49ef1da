#import "internal.h"
#include <string.h>

static const char root[] = "@model_path/";
enum { deepest = 32 }; // half of what tree.m removes

// Names of the files that the framework writes into the directory, and of the bridge's own,
// including files being written; see tree.m.
static bool taken(NSString *path) {
    NSArray *names = [NSArray arrayWithObjects:@"model.mil", @"net.plist", @"compiler_options.plist", nil];
    NSString *last = [path lastPathComponent];
    return [names containsObject:[path lowercaseString]] || ([last hasPrefix:@"."] && [last hasSuffix:@".part"]);
}

// Returns the path below the program's directory, or nil if it would leave the directory.
static NSString *inside(const char *path) {
    if (path == NULL || !aneb_utf8_valid(path)) return nil;
    if (strncmp(path, root, sizeof root - 1) == 0) path += sizeof root - 1;
    int parts = 1;
    for (const char *part = path;; part++, parts++) {
        size_t n = strcspn(part, "/");
        if (n == 0 || n > 255 || (n == 1 && part[0] == '.') || (n == 2 && strncmp(part, "..", 2) == 0)) return nil;
        if (parts > deepest) return nil;
        part += n;
        if (*part == 0) break;
    }
    return [NSString stringWithUTF8String:path];
}

// Returns a file name without directories, different for every path.
static NSString *flat(NSString *path) {
    if ([path rangeOfString:@"/"].location == NSNotFound) return path;
    NSString *escaped = [path stringByReplacingOccurrencesOfString:@"%" withString:@"%25"];
    return [escaped stringByReplacingOccurrencesOfString:@"/" withString:@"%2F"];
}

// Returns the name of the file in which the framework writes its own copy of a weight. A program's only one is
// called "data", as in all programs that are known to compile on macOS 27. Several need different names: each file
// is hashed and compared with the weight of its name.
static NSString *name_of_copy(NSString *path, int32_t count) {
    bool folder = [[path lowercaseString] hasPrefix:@"data/"]; // "data" is then the folder of the program's own file
    return count == 1 && !folder ? @"data" : flat(path);
}

static int32_t add(const aneb_weight *w, int32_t i, int32_t count, NSMutableDictionary *descriptor, NSMutableDictionary *files,
                   NSMutableSet *flats, aneb_error *e) {
    NSString *path = inside(w->path);
    if (path == nil || taken(path))
        return aneb_refuse(e, ANEB_CREATE, ANEB_ARGUMENT,
                           "weight %d: \"%.200s\" must name a file below @model_path that is not one of the program's "
                           "own, in at most %d parts, none empty, \".\" or \"..\"", i,
                           w->path == NULL || !aneb_utf8_valid(w->path) ? "" : w->path, deepest);
    if (w->data == NULL || w->size == 0)
        return aneb_refuse(e, ANEB_CREATE, ANEB_ARGUMENT, "weight %d: \"%.200s\" has no data", i, w->path);
    NSString *key = [NSString stringWithUTF8String:w->path], *name = name_of_copy(path, count);
    NSString *folded = [flat(path) lowercaseString]; // macOS's file systems ignore case
    if ([flats containsObject:folded])
        return aneb_refuse(e, ANEB_CREATE, ANEB_ARGUMENT, "weight %d: \"%.200s\" occurs twice", i, w->path);
    if ([name lengthOfBytesUsingEncoding:NSUTF8StringEncoding] > 255)
        return aneb_refuse(e, ANEB_CREATE, ANEB_ARGUMENT,
                           "weight %d: \"%.200s\" is too long; the framework needs it as one file name", i, w->path);
    NSData *data = [NSData dataWithBytesNoCopy:(void *)w->data length:w->size freeWhenDone:NO];
    if (data == nil || key == nil) return aneb_fail(e, ANEB_CREATE, ANEB_NIL, 0, "no memory for weight %d", i);
    [files setObject:data forKey:path];
    [flats addObject:folded];
    // Only one key: the framework hashes the first value and writes it under the first key.
    [descriptor setObject:[NSDictionary dictionaryWithObject:data forKey:name] forKey:key];
    return ANEB_OK;
}

// Rejects a path that is the folder of another.
static int32_t part(NSString *path, NSSet *flats, aneb_error *e) {
    NSString *folder = [path stringByDeletingLastPathComponent];
    for (; [folder length] > 0; folder = [folder stringByDeletingLastPathComponent])
        if ([flats containsObject:[flat(folder) lowercaseString]])
            return aneb_refuse(e, ANEB_CREATE, ANEB_ARGUMENT, "weight \"%.200s\" would lie in \"%.200s\", which is a file",
                               [path UTF8String], [folder UTF8String]);
    return ANEB_OK;
}

int32_t aneb_weights(const aneb_weight *weights, int32_t count, NSMutableDictionary *descriptor,
                     NSMutableDictionary *files, aneb_error *e) {
    NSMutableSet *flats = [NSMutableSet set];
    for (int32_t i = 0; i < count; i++) {
        int32_t kind = add(&weights[i], i, count, descriptor, files, flats, e);
        if (kind != ANEB_OK) return kind;
    }
    for (NSString *path in files) {
        int32_t kind = part(path, flats, e);
        if (kind != ANEB_OK) return kind;
    }
    return ANEB_OK;
}
