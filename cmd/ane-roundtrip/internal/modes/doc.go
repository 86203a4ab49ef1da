// Package modes finds where two numerics modes part: the first operator of a program whose result differs, and
// the rule that makes the difference.
//
// It evaluates the program under both modes with all intermediate values as outputs, in pieces that bound the
// memory. Every operator before the first one that differs gives equal results, so that operator has the same
// operands in both modes. It is then evaluated alone, with single rules of the modes exchanged, until the
// element of one mode becomes that of the other.
package modes
