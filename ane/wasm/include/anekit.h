// The functions of the module anekit for guests in C: clang --target=wasm32 -nostdlib. Package ane/wasm describes them.
#ifndef ANEKIT_H
#define ANEKIT_H

#define ANEKIT_IMPORT(name) __attribute__((import_module("anekit"), import_name(name)))

// What the functions return in place of 0 or a positive number.
enum {
	ANEKIT_ENGINE = -1,
	ANEKIT_NAME = -2,
	ANEKIT_BOUNDS = -3,
	ANEKIT_ALIGNED = -4,
	ANEKIT_SHORT = -5,
	ANEKIT_LIMIT = -6,
	ANEKIT_HANDLE = -7,
	ANEKIT_COMPILE = -8,
	ANEKIT_MISMATCH = -9,
	ANEKIT_UNBOUND = -10,
	ANEKIT_BUSY = -11,
	ANEKIT_DEADLINE = -12,
	ANEKIT_FULL = -13,
	ANEKIT_ARGUMENT = -14,
	ANEKIT_UNSUPPORTED = -15,
	ANEKIT_OVERLAP = -16,
	ANEKIT_CLOSED = -17,
	ANEKIT_EXHAUSTED = -18,
};

ANEKIT_IMPORT("version") int anekit_version(void);
ANEKIT_IMPORT("alignment") int anekit_alignment(void);
ANEKIT_IMPORT("error_text") int anekit_error_text(char *ptr, unsigned cap);
ANEKIT_IMPORT("print") int anekit_print(const char *ptr, unsigned length);
ANEKIT_IMPORT("program_open") int anekit_program_open(const char *name, unsigned length);
ANEKIT_IMPORT("program_compile") int anekit_program_compile(const char *text, unsigned length);
ANEKIT_IMPORT("program_close") int anekit_program_close(int program);
ANEKIT_IMPORT("tensor_bytes") int anekit_tensor_bytes(int program, const char *name, unsigned length);
ANEKIT_IMPORT("tensor_stride") int anekit_tensor_stride(int program, const char *name, unsigned length, unsigned axis);
ANEKIT_IMPORT("request_open") int anekit_request_open(int program);
ANEKIT_IMPORT("bind") int anekit_bind(int request, const char *name, unsigned length, void *ptr, unsigned bytes);
ANEKIT_IMPORT("bind_keys") int anekit_bind_keys(int request, const char *name, unsigned length, int cache, int layer);
ANEKIT_IMPORT("bind_values")
	int anekit_bind_values(int request, const char *name, unsigned length, int cache, int layer);
ANEKIT_IMPORT("evaluate") int anekit_evaluate(int request);
ANEKIT_IMPORT("start") int anekit_start(int request);
ANEKIT_IMPORT("wait") int anekit_wait(int request);
ANEKIT_IMPORT("request_close") int anekit_request_close(int request);
ANEKIT_IMPORT("cache_open") int anekit_cache_open(unsigned layers, unsigned heads, unsigned dim, unsigned context);
ANEKIT_IMPORT("cache_append")
	int anekit_cache_append(int cache, int layer, const void *keys, const void *values, unsigned tokens);
ANEKIT_IMPORT("cache_advance") int anekit_cache_advance(int cache, int tokens);
ANEKIT_IMPORT("cache_length") int anekit_cache_length(int cache);
ANEKIT_IMPORT("cache_truncate") int anekit_cache_truncate(int cache, int tokens);
ANEKIT_IMPORT("cache_close") int anekit_cache_close(int cache);

// A buffer of a kernel of the GPU.
struct anekit_range {
	void *ptr;
	unsigned bytes;
};

ANEKIT_IMPORT("gpu_alignment") int anekit_gpu_alignment(void);
ANEKIT_IMPORT("gpu_run")
	int anekit_gpu_run(const char *name, unsigned length, const struct anekit_range *ranges, unsigned count,
			   const void *push, unsigned bytes);

#endif
