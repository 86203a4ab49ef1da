// Package membench measures unimem against floors: the barest code that does the same work
// on memory gained by bare system calls. The benchmarks of unimem and the tables of the
// command run the same bodies.
package membench
