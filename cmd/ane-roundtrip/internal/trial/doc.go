// Package trial runs programs on an engine and measures what it claims: that
// the values are right and that no copy of them was made.
//
// A Rig is one program bound to Grid cells, each a surface of its own, with
// guard cells around them; painted, it has a known pattern in every byte that
// belongs to no tensor. Model takes one model through compile, load and many evaluations;
// Evidence collects what holds for the engine as a whole. Nothing here knows
// whether an engine is honest: faults are injected below, as engines.
package trial
