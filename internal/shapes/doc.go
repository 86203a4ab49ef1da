// Package shapes gives lengths to the axes that a program leaves open: tensor<fp16, [1, ?]>.
//
// The lengths of inputs come from the caller, else from the default of FlexibleShapeInformation, with which Apple's
// compiler writes what a model's description says. Those of all other values follow by the rules of internal/ops.
package shapes
