// Package membench measures unimem against floors: the smallest code that does the same work
// on memory from direct system calls. The benchmarks of unimem and the tables of the command
// run the same functions.
package membench
