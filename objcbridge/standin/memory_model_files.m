// The directory of an in-memory model.
#import "ane_memory_model.h"

NSString *memory_model_path(StandinInMemoryModel *m) {
    return [NSTemporaryDirectory() stringByAppendingPathComponent:m->identity];
}

NSFileManager *memory_model_files(void) {
    return [[[NSFileManager alloc] init] autorelease];
}

static BOOL write_into(NSString *directory, NSData *data, NSString *name) {
    NSString *path = [directory stringByAppendingPathComponent:name];
    BOOL folder = NO;
    // Checked first, because GNUstep prints a line for each file that it cannot open.
    [memory_model_files() fileExistsAtPath:[path stringByDeletingLastPathComponent] isDirectory:&folder];
    return folder && [data writeToFile:path atomically:NO];
}

// Makes no folders below the directory: writing a name with a slash fails unless its folder exists.
static BOOL write_weights(NSString *directory, NSDictionary *weights) {
    for (NSString *key in [weights allKeys]) {
        NSDictionary *inner = [weights objectForKey:key];
        NSString *name = [[inner allKeys] objectAtIndex:0];
        if (!write_into(directory, [inner objectForKey:name], name)) return NO;
    }
    return YES;
}

NSURL *memory_model_save(StandinInMemoryModel *m) {
    StandinDescriptor *d = m->descriptor;
    NSString *directory = memory_model_path(m);
    if (!d || ![memory_model_files() createDirectoryAtPath:directory
                                withIntermediateDirectories:YES
                                                 attributes:nil
                                                      error:NULL])
        return nil;
    if (!write_into(directory, d->text, @"net.plist")) return nil;
    if (d->plist && !write_into(directory, d->plist, m->options_file)) return nil;
    if (!write_weights(directory, d->weights)) return nil;
    m->url = [[NSURL fileURLWithPath:directory] retain];
    [d release];
    m->descriptor = nil;
    return m->url;
}
