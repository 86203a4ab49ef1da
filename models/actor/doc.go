// Package actor runs WebAssembly guests that talk with a language model and can be frozen between two tokens. One file
// takes the guest's linear memory and globals, the tokens, the state of the draws, and the model's keys and values.
// From it the actor continues as if it had never stopped, in another process, on another machine and on another engine
// of equal numerics.
//
//	host, err := actor.NewHost(ctx, device, model)      // one model, whose weights all actors share
//	code, err := host.Load(ctx, actor.Talker())         // a guest
//	a, err := code.Start(ctx, actor.Config{Prompt: prompt, Sampler: sampler})
//	token, err := a.Next(ctx)                           // any number of times
//	err = a.Freeze(ctx, "talk.actor")
//	...
//	a, err = code.Thaw(ctx, "talk.actor", actor.Config{})
//
// # Guests
//
// A guest exports its memory and next() -> i32, which returns the next token, -100 at the end of what it has to say, or
// a wasm.Code. It may import all functions of package ane/wasm and these, of the module anekit. Their results are a
// number, or a Code below 0; all parameters and results are i32:
//
//	prompt_length() -> tokens              that the actor was started with
//	prompt_read(ptr, cap) -> tokens        writes them as i32
//	vocabulary() -> tokens
//	position() -> tokens                   that the model has taken
//	prefill(ptr, n) -> 0                   the model takes n tokens, i32 each, the last one by a step
//	step(token) -> 0                       the model takes one token
//	choose() -> token                      by the actor's sampler, from the logits of the last token
//	logits(ptr, cap) -> numbers            writes fp32 logits
//	truncate(n) -> 0                       the model keeps the first n tokens
//
// The bytes of prompt_read, prefill and logits count in Guest.Copied.
//
// Talker is a guest that answers a prompt, in C.
//
// # What is frozen
//
// WebAssembly hides a guest's globals and tables. Load writes the binary again with an export for each mutable global.
// wazero shows no tables, so Load refuses a guest whose code changes a table. It also refuses one that drops segments,
// has a mutable global of a reference or a vector, or imports a memory, a table or a global. In all other guests the
// tables are those of the binary. Between two calls a guest has no stack, so memory and globals are all of it.
// Programs, requests and caches that a guest has opened by package ane/wasm are not frozen: Freeze refuses a guest that
// has any open.
//
// Clocks and random numbers, which WASI gives guests, continue where they stopped, and error_text returns what it would
// have returned. A guest has no other files than the three standard ones, which it cannot close.
//
// The file is a snapshot of package ane/kv (kv.Cache.SaveFileNote). After a kill at any moment the path has the old
// file or the new one, whole. The guest is in its note: the pages that it has touched, compressed, in at most 62 MiB.
// This state has a version of its own, 4. Thaw refuses a file of another version with both numbers.
//
// # Thawing
//
// Thaw compares the guest's SHA-256 and the versions; its error for another guest names the difference. It restores the
// keys and values of the same model. Another model, other weights or other numerics compute other keys and values. Thaw
// then returns ErrModel; Move keeps memory and tokens, and fills the new model's cache by prefill. That holds for models
// of one tokenizer, by the hash of tokenizer.json. For another tokenizer Move decodes the text of the conversation and
// encodes it again, and the guest begins with it; Thaw, which needs the keys and values, refuses.
package actor
