// Package decodertest writes folders of small random models of the Llama family, for tests of programs that use package
// decoder. config.json has the keys that each family publishes. Weights are fp32, bf16 or fp16, or in groups as MLX
// packs them, in one file or in shards.
//
//	model, err := decodertest.Write(dir, decodertest.Spec{Family: decodertest.Llama3, Seed: 1})
//	folder, err := decoder.Open(dir)
//
// The Model has the numbers of every weight as float64, exactly as stored, for a reference that is computed from them.
package decodertest
