// Package calls is what the clients of a broker wait for. Compiles take turns with those of other clients. Evaluations
// and chains are in flight until the driver has ended them. Answers sends their results.
package calls
