// Package weightbench repeats the three suites of the OptMLX paper (AtomGradient, 2026) on files that it
// makes: how long weights take to load, what the way of loading does to evaluations, and what
// memory reserved for keys and values costs. Paper has the published tables, measured with MLX on an M4
// Max; the figures of this machine are comparable in their shape only.
package weightbench
