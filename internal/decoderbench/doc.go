// Package decoderbench makes language models of random weights in the shapes of published ones, and measures package
// decoder with them: load, first token, rates, memory, and restoring a snapshot beside repeating the prefill. Seed has
// the published figures, of Llama 3.2 1B on the GPU of an M1 ("Zero-Copy GPU Inference from WebAssembly on Apple
// Silicon", abacusnoir.com, 2026).
package decoderbench
