#ifndef STANDIN_ANE_MEMORY_MODEL_H
#define STANDIN_ANE_MEMORY_MODEL_H

#import "ane_descriptor.h"
#import "ane_model.h"

// _ANEInMemoryModel.
@interface StandinInMemoryModel : StandinObject {
@public
    StandinDescriptor *descriptor; // nil after the files are written
    NSString *identity, *options_file;
    NSURL *url;
    StandinModel *model;
    StandinProgramForEvaluation *program;
    StandinCompiled *compiled; // represents the program compiled from the directory
    NSDictionary *attributes, *file_hashes;
    NSUInteger weight_files;
    BOOL shared_name; // see ane_descriptor.h
    uint64_t handle, intermediate, state, string_id;
    uint32_t mask;
    int remains; // see programs.h
    signed char depth;
    BOOL mil;
}
@end

#pragma GCC visibility push(hidden)

NSString *memory_model_path(StandinInMemoryModel *m);
// A file manager of the caller's own, autoreleased. GNUstep's shared one keeps its last error without a lock,
// so two threads that fail at once free it twice; Apple's may be shared.
NSFileManager *memory_model_files(void);
// Writes the files and sets url; nil if a file cannot be written. memory_model_files.m
NSURL *memory_model_save(StandinInMemoryModel *m);
// The options as passed to the broker; nil stays nil.
NSDictionary *memory_model_options(StandinInMemoryModel *m, NSDictionary *options, BOOL cached);
BOOL memory_model_compile(StandinInMemoryModel *m, NSDictionary *options, NSString *method, NSError **error);
BOOL memory_model_load(StandinInMemoryModel *m, NSDictionary *options, NSString *method, NSError **error);
// From 27 on the error of a directory that the framework does not compile, or nil; memory_model_verify.m.
NSError *memory_model_verify(StandinInMemoryModel *m);
BOOL memory_model_unload(StandinInMemoryModel *m, NSString *method, NSError **error);

#pragma GCC visibility pop

#endif
