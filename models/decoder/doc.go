// Package decoder runs language models of the Llama family on an engine, from a folder as published to the logits of
// the next token. Package tokenizer below it makes tokens of text.
//
//	folder, err := decoder.Open("Llama-3.2-1B-Instruct-4bit")      // config.json and mapped weights
//	model, err := decoder.Load(ctx, device, folder, decoder.WithForm(decoder.Compact), decoder.Context(4096))
//	session, err := model.NewSession()
//	err = session.Prefill(ctx, prompt)
//	for !folder.Config().Ends(token) {
//		token = session.Next(sampler)
//		err = session.Step(ctx, token)
//	}
//
// # Folders
//
// Open reads config.json of Llama 2 and 3, TinyLlama, Mistral, Qwen 2 and Qwen 3. It maps the weights: a safetensors
// file or the shards of an index, of fp32, bf16, fp16, or groups of 2 to 8 bits with scales and biases as MLX writes
// them. Names of tensors may lack "model.", as in files of a base model. If a tensor of the model is missing or has
// another shape, Open returns an Error that names it.
//
// # Programs
//
// Load builds MIL, compiles it and loads it. It groups the layers so that a program keeps the limits of a chip. It
// splits a layer that exceeds them: attention by heads, the feed-forward network by its inner elements, the logits by
// rows. Each part adds to the sum of those before it. On an engine that makes instances, Load compiles programs of one
// shape once and makes instances with other weights (ane.Model.WithWeights). There is a set of programs for a chunk of
// the prompt, and one for a step; the form Compact has more, for other numbers of tokens, compiled when first needed.
// Programs that exceed the load limit of a chip share one place: each run loads its own.
//
// A program takes the hidden state, the rotations and the mask of its tokens. The keys and values of its layers are the
// surfaces of package kv, bound in place. It writes the hidden state, which the next program reads on the same surface.
// It also writes the keys and values of its tokens, which the session appends to the cache.
//
// # Copies
//
// The engine reads weights where they are, mapped or read. A token costs the bytes that Session.Copied counts.
// Session.Next and Session.Answer choose a token by the logits in place; Session.Logits copies them.
//
// # Limits
//
// Attention is to all tokens. Open refuses a window (sliding_window) and heads that rotate in part; mixtures of
// experts and adapters are unknown. Weights are fp16 or packed integers. A number that is not finite is an error of
// Load or, in large mapped matrices, of the first Prefill or Step. In the forms of engines Load refuses a head, or 32
// elements of the feed-forward network, beyond the weights of a program. If another process truncates a mapped file,
// calls return unimem.ErrChanged with its name.
//
// # Lifetimes
//
// Close sessions, then the Model, then the Folder; the Device is the caller's. One goroutine at a time uses a Session;
// sessions of one Model may run at the same time, and share its weights.
package decoder
