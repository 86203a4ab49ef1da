// What framework 382.11 verifies before it compiles a directory.
#import "ane_memory_model.h"

#import "errors.h"
#import "hash_encoding.h"

static NSError *invalid(void) { return error_plain(10, @"verifyBundleAtPath"); }

// The user's folder for temporary files, without symbolic links in its path.
static NSString *user_folder(void) {
    char path[4096];
    size_t size = standin_temp_dir(path, sizeof path);
    if (size == 0 || size > sizeof path) return nil;
    return [[NSString stringWithUTF8String:path] stringByResolvingSymlinksInPath];
}

// The directory must be the model's own, directly in the user's folder: neither in that of another TMPDIR, nor one
// that the caller has set.
static BOOL in_place(StandinInMemoryModel *m) {
    NSString *path = [[m->url path] stringByStandardizingPath];
    if (![[path lastPathComponent] isEqualToString:m->identity]) return NO;
    return [[[path stringByDeletingLastPathComponent] stringByResolvingSymlinksInPath] isEqualToString:user_folder()];
}

NSError *memory_model_verify(StandinInMemoryModel *m) {
    if (core.profile < PROFILE_27) return nil;
    if (!in_place(m)) {
        core_log(@"%@ is not directly in %@", [m->url path], user_folder());
        return invalid();
    }
    if (m->shared_name || (m->weight_files > 1 && !core.several)) {
        core_log(@"verifyBundleAtPath: hash mismatch, with %lu weight files", (unsigned long)m->weight_files);
        return invalid();
    }
    NSError *error = nil;
    return hash_verify([m->url path], m->file_hashes, &error) ? nil : error;
}
