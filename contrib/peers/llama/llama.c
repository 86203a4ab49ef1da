// llama MODEL THREADS ROOM FILE PROMPT STEPS PROMPT STEPS ...: loads a model, and for each pair computes a prompt of so
// many tokens, then steps; then it saves and restores what the last pair left, five times. It prints a name and a time in
// nanoseconds a line: of the processor with one thread, else of the clock. "tokens" has the tokens chosen.
//
// The structures of parameters are opaque: their layout is that of the pinned version, by the offsets below.
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct params { char bytes[1024]; };
struct batch {
	int32_t n, *token;
	float *embedding;
	int32_t *position, *sequences, **ids;
	int8_t *logits;
};

enum { GPU_LAYERS = 16 }; // of a model
enum { ROOM = 0, BATCH = 4, UBATCH = 8, THREADS = 28, BATCH_THREADS = 32, TYPE_K = 104, TYPE_V = 108 }; // of a context

struct params llama_model_default_params(void), llama_context_default_params(void);
void ggml_backend_load_all_from_path(const char *), llama_backend_init(void);
void llama_log_set(void (*)(int, const char *, void *), void *);
void *llama_model_load_from_file(const char *, struct params), *llama_init_from_model(void *, struct params);
void *llama_model_get_vocab(void *), *llama_get_memory(void *);
void llama_memory_clear(void *, bool);
int32_t llama_vocab_n_tokens(void *), llama_decode(void *, struct batch);
float *llama_get_logits_ith(void *, int32_t);
struct batch llama_batch_get_one(int32_t *, int32_t);
size_t llama_state_seq_save_file(void *, const char *, int32_t, const int32_t *, size_t);
size_t llama_state_seq_load_file(void *, const char *, int32_t, int32_t *, size_t, size_t *);

static int threads;
static void quiet(int level, const char *text, void *data) { (void)level, (void)text, (void)data; }
static int32_t get(struct params *p, int at) { int32_t v; memcpy(&v, p->bytes + at, 4); return v; }
static void set(struct params *p, int at, int32_t v) { memcpy(p->bytes + at, &v, 4); }
static void fail(const char *why) { fprintf(stderr, "llama: %s\n", why); exit(1); }
static int64_t now(void) {
	struct timespec t;
	clock_gettime(threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}
static void say(const char *what, int n, int64_t since) {
	printf("%s%d %lld\n", what, n, (long long)(now() - since));
}

static int32_t next(void *context, int vocabulary) {
	const float *logits = llama_get_logits_ith(context, -1);
	int best = 0;
	for (int i = 1; i < vocabulary; i++)
		if (logits[i] > logits[best])
			best = i;
	return best;
}

int main(int n, char **args) {
	threads = atoi(args[2]);
	llama_log_set(quiet, NULL);
	ggml_backend_load_all_from_path(getenv("LLAMA"));
	llama_backend_init();
	int64_t start = now();
	struct params p = llama_model_default_params(), c = llama_context_default_params();
	if (get(&c, ROOM) != 512 || get(&c, THREADS) != 4 || get(&c, BATCH_THREADS) != 4 || get(&c, TYPE_K) != 1 ||
	    get(&c, TYPE_V) != 1)
		fail("another version of llama.cpp: its parameters are laid out otherwise");
	set(&p, GPU_LAYERS, 0);
	void *model = llama_model_load_from_file(args[1], p);
	set(&c, ROOM, atoi(args[3])), set(&c, BATCH, 512), set(&c, UBATCH, 512);
	set(&c, THREADS, threads), set(&c, BATCH_THREADS, threads);
	void *context = model ? llama_init_from_model(model, c) : NULL;
	if (!context)
		fail("cannot load the model");
	say("load", 0, start);
	int vocabulary = llama_vocab_n_tokens(llama_model_get_vocab(model)), held = 0;
	static int32_t tokens[1 << 16];
	for (int a = 5; a + 1 < n; a += 2) {
		int prompt = atoi(args[a]), steps = atoi(args[a + 1]);
		llama_memory_clear(llama_get_memory(context), true);
		for (int i = 0; i < prompt; i++)
			tokens[i] = (i * 7919LL + 13) % vocabulary;
		start = now();
		if (llama_decode(context, llama_batch_get_one(tokens, prompt)))
			fail("cannot compute the prompt");
		int32_t token = next(context, vocabulary);
		say("prompt", prompt, start);
		for (held = prompt; held < prompt + steps; held++) {
			tokens[held] = token;
			start = now();
			if (llama_decode(context, llama_batch_get_one(tokens + held, 1)))
				fail("cannot compute a step");
			token = next(context, vocabulary);
			say("step", prompt, start);
			printf("token%d %d\n", prompt, token);
		}
	}
	for (int i = 0; i < 5; i++) {
		start = now();
		size_t bytes = llama_state_seq_save_file(context, args[4], 0, tokens, held), count;
		say("save", 0, start);
		llama_memory_clear(llama_get_memory(context), true);
		start = now();
		if (!bytes || !llama_state_seq_load_file(context, args[4], 0, tokens, sizeof tokens / 4, &count))
			fail("cannot save or restore");
		say("restore", 0, start);
	}
}
