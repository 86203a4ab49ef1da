// Package decoder runs language models of the Llama family on an engine, from a folder as published to the logits of
// the next token.
//
//	folder, err := decoder.Open("Llama-3.2-1B-Instruct-4bit")      // config.json and mapped weights
//	model, err := decoder.Load(ctx, device, folder, decoder.WithForm(decoder.Compact), decoder.Context(4096))
//	session, err := model.NewSession(ctx)
//	err = session.Prefill(ctx, prompt)
//	for !folder.Config().Ends(token) {
//		token = sampler.Next(session.Logits())
//		err = session.Step(ctx, token)
//	}
//
// # Folders
//
// Open reads config.json of Llama 2 and 3, TinyLlama, Qwen 2 and Qwen 3, and maps the weights: one safetensors file or
// the shards of an index, of fp32, bf16 or fp16, or groups of 2 to 8 bits with scales and biases as MLX writes them.
// Everything that the model needs is there and has its shape, or Open returns an Error that names it. Load reads the
// numbers, and refuses NaN and infinity.
//
// # Programs
//
// Load builds MIL, compiles it and loads it. The layers are grouped so that a program keeps the limits of a chip;
// groups of one shape are compiled once and become instances with other weights (ane.Model.WithWeights) where the
// engine makes instances. There is a set of programs for a chunk of the prompt, and one for a step.
//
// A program takes the hidden state, the rotations and the mask of its tokens, and the keys and values of its layers,
// which are the surfaces of package kv, bound in place. Its outputs are the hidden state, which is the next program's
// input on the same surface, and the keys and values of its tokens, which the session appends to the cache.
//
// # Copies
//
// Weights are not copied by this package where the engine reads them from the mapped file. A token costs the bytes
// that Session.Copied counts: its row of the embedding, its rotation and mask, and its keys and values on their way
// into the cache. Nothing else moves between two programs.
//
// # Lifetimes
//
// Close sessions, then the Model, then the Folder; the Device is the caller's. One goroutine at a time uses a Session;
// sessions of one Model may run at the same time, and share its weights.
package decoder
