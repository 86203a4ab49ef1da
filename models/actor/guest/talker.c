// A guest that gives the prompt to the model and then says what the sampler chooses. It keeps every token.
#include "actor.h"

enum { most = 65536 };

static int tokens[most];
static int count; // tokens that are known
static int said;

// next is the export that says one token. The model takes the last known token only when another one is to follow, so
// that between two calls nothing but memory is left.
__attribute__((export_name("next"))) int next(void) {
	int code;
	if (count == 0) {
		count = actor_prompt_read(tokens, most);
		if (count < 0)
			return code = count, count = 0, code;
		if (count == 0)
			return ACTOR_SILENT;
		if (count > 1 && (code = actor_prefill(tokens, count - 1)) < 0)
			return count = 0, code;
	}
	if (count == most)
		return ACTOR_SILENT;
	if (actor_position() < count && (code = actor_step(tokens[count - 1])) < 0)
		return code;
	if ((code = actor_choose()) < 0)
		return code;
	said++;
	return tokens[count++] = code;
}

// said_tokens is the number of tokens that the guest has said.
__attribute__((export_name("said"))) int said_tokens(void) { return said; }
