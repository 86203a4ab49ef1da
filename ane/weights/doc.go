// Package weights gives the tensors of safetensors files to MIL programs.
//
// Weights that are inputs of a program are bound where they lie. [Request] makes a request whose inputs are views of
// the mapped file where the engine allows it, and otherwise copies each tensor once. Weights that are constants are in
// files of another format (package ane/mil/blob). [Files] makes them of a safetensors file when a compiler or
// Model.WithWeights asks for them.
//
// Names of a program are seldom those of a file; a [Names] translates. F32 and BF16 become fp16
// where the program wants fp16. Every byte that is copied is counted.
package weights
