// The functions of the module anekit that package models/actor adds, for guests in C.
#ifndef ANEKIT_ACTOR_H
#define ANEKIT_ACTOR_H

#include "../../../ane/wasm/include/anekit.h"

enum { ACTOR_SILENT = -100 };

ANEKIT_IMPORT("prompt_length") int actor_prompt_length(void);
ANEKIT_IMPORT("prompt_read") int actor_prompt_read(int *tokens, unsigned cap);
ANEKIT_IMPORT("vocabulary") int actor_vocabulary(void);
ANEKIT_IMPORT("position") int actor_position(void);
ANEKIT_IMPORT("prefill") int actor_prefill(const int *tokens, unsigned n);
ANEKIT_IMPORT("step") int actor_step(int token);
ANEKIT_IMPORT("choose") int actor_choose(void);
ANEKIT_IMPORT("logits") int actor_logits(float *logits, unsigned cap);
ANEKIT_IMPORT("truncate") int actor_truncate(int tokens);

#endif
