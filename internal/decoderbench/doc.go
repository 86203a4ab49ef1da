// Package decoderbench makes language models of random weights in the shapes of published ones, and measures what
// package decoder does with them: load, first token, rates, memory, and snapshots beside another prefill. Seed has the
// figures that it is compared with, of Llama 3.2 1B on the GPU of an M1 ("Zero-Copy GPU Inference from WebAssembly on
// Apple Silicon", abacusnoir.com, 2026).
package decoderbench
