// Package coreml opens models of Core ML as programs: a package (NAME.mlpackage), a compiled model (NAME.mlmodelc), a
// model in one file (NAME.mlmodel), and MIL text.
//
//	m, err := coreml.Open("x.mlpackage")
//	...
//	model, err := device.Compile(ctx, ane.Source{Program: m})
//
// A [Model] is an ane.Program that brings its weight files and its shapes. Its [Description] has inputs, outputs,
// states, pictures, flexible shapes and metadata.
//
// The program of a package is the tree that Apple's compiler writes of it, up to the names and the order of constants:
// opsets have the names of MIL text (ios17 for CoreML7), and the shapes of flexible inputs are an attribute of their
// function, FlexibleShapeInformation.
//
// A pipeline has parts, see [Model.Part]. Features have one name in the whole pipeline: a part takes the output of an
// earlier part, or else the input of the pipeline, that has the name of its own input.
//
// Models of other kinds, such as neural networks of the older format and tree ensembles, have no program: ErrKind says
// which kind it is and what to do. Encrypted models are ErrEncrypted. Fields that this package does not know are named
// by [Model.Remarks].
//
// Reading takes time linear in the size of the file, and allocates at most 160 bytes for each byte.
package coreml
