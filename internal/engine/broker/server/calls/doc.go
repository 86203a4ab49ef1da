// Package calls is what the clients of a broker wait for: compiles, which have their turns with those of other clients,
// and evaluations and chains, which are calls in flight until the driver has ended them. Answers sends what becomes of
// them.
package calls
